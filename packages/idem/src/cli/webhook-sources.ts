// The sources of webhooks a command is about: settings of the store it is beside, or those of a server elsewhere. A secret goes there and never comes back.
import { errors } from "../model/errors.ts";
import type { Answer } from "../server/api/api-table.ts";
import type { Setting } from "../store/settings.ts";
import {
  newSource,
  readSourceValue,
  type ShownSource,
  type SourceConfig,
  type SourceValue,
  shownSource,
  sourceFields,
  sourceKind,
  withoutOldSecret,
  withSecret,
} from "../toolkit/webhooks/source-setting.ts";
import type { Context } from "./command.ts";
import type { ServerLine } from "./server-line.ts";

export interface WebhookSources {
  list(): Promise<readonly ShownSource[]>;
  /** Throws SOURCE_TAKEN. */
  add(name: string, config: SourceConfig, secret: string): Promise<ShownSource>;
  /** Beside the one there is. Throws SOURCE_UNKNOWN and SOURCE_CHANGED, as the two after it. */
  addSecret(name: string, secret: string): Promise<ShownSource>;
  dropOldSecret(name: string): Promise<ShownSource>;
  remove(name: string, reason: string): Promise<void>;
}

export async function webhookSources(context: Context): Promise<WebhookSources> {
  const server = await context.server();
  return server === null ? beside(context) : elsewhere(server);
}

function beside(context: Context): WebhookSources {
  const settings = () => context.read(({ reads }) => reads.settings(context.env, sourceKind));
  /** Its secrets are not looked at. */
  const find = async (name: string): Promise<Setting> => {
    const setting = (await settings()).find((each) => each.name === name);
    if (setting === undefined) throw errors.SOURCE_UNKNOWN({ source: name });
    return setting;
  };
  const write = async (name: string, value: SourceValue | null, over: number, reason: string): Promise<void> => {
    const setting = { kind: sourceKind, name, value: value === null ? null : JSON.stringify(value), over, reason };
    const answer = await context.write((ask) => ask("set", context.env, setting));
    if (answer.kind !== "differs") return;
    throw over === 0 ? errors.SOURCE_TAKEN({ source: name }) : errors.SOURCE_CHANGED({ source: name });
  };
  const change = async (name: string, make: (value: SourceValue) => SourceValue, reason: string) => {
    const setting = await find(name);
    const changed = make(readSourceValue(setting.value));
    await write(name, changed, setting.version, reason);
    return shownSource(name, changed);
  };
  return {
    list: async () => (await settings()).map(({ name, value }) => shownSource(name, readSourceValue(value))),
    add: async (name, config, secret) => {
      const value = newSource(config, secret, context.now());
      await write(name, value, 0, "made by idem webhooks");
      return shownSource(name, value);
    },
    addSecret: (name, secret) =>
      change(name, (value) => withSecret(value, secret, context.now()), "a secret was added"),
    dropOldSecret: (name) => change(name, withoutOldSecret, "the older secret was dropped"),
    remove: async (name, reason) => write(name, null, (await find(name)).version, reason),
  };
}

function elsewhere(line: ServerLine): WebhookSources {
  const ofSource = (name: string) => ({ params: { name }, what: `Source "${name}"`, once: true });
  const known = <A>(name: string, answer: A | null): A => {
    if (answer === null) throw errors.SOURCE_UNKNOWN({ source: name });
    return answer;
  };
  return {
    list: async () => known("", await line.ask("GET /api/webhooks", { what: "The sources" })).sources.map(shownOf),
    add: async (name, config, secret) => {
      const asked = { body: { name, ...config, secret }, what: `Source "${name}"`, once: true };
      return shownOf(known(name, await line.ask("POST /api/webhooks", asked)).source);
    },
    addSecret: async (name, secret) => {
      const asked = { ...ofSource(name), body: { secret } };
      return shownOf(known(name, await line.ask("POST /api/webhooks/:name/secrets", asked)).source);
    },
    dropOldSecret: async (name) =>
      shownOf(known(name, await line.ask("DELETE /api/webhooks/:name/secrets/old", ofSource(name))).source),
    remove: async (name, reason) => {
      known(name, await line.ask("DELETE /api/webhooks/:name", { ...ofSource(name), body: { reason } }));
    },
  };
}

const shownFields = ["name", ...Object.keys(sourceFields), "createdAt", "secrets"];

/** Without what the server's page shows beside it. */
const shownOf = (item: Answer<"POST /api/webhooks">["source"]): ShownSource =>
  Object.fromEntries(
    shownFields.flatMap((name) => (Object.hasOwn(item, name) ? [[name, (item as Record<string, unknown>)[name]]] : [])),
  ) as unknown as ShownSource;
