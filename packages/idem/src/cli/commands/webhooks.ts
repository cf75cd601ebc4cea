// idem webhooks: the sources a server receives at /w/<name>. A secret is never an argument: every user of the machine could read it.
import { errors } from "../../model/errors.ts";
import {
  generatedSecret,
  readSourceName,
  type SourceConfig,
  type SourceProvider,
  sourcePath,
  sourceProviders,
} from "../../toolkit/webhooks/source-setting.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { when } from "../times.ts";
import { webhookSources } from "../webhook-sources.ts";

const actions = ["add", "rotate", "drop-old", "remove"] as const;

export const webhooks: Command = {
  name: "webhooks",
  summary: "list the sources a server receives webhooks from, or make, change and remove one",
  usage: `| add <name> --provider <provider> [--secret-env <VAR> | --secret-stdin] | rotate <name> … | drop-old <name> | remove <name> --reason <text>`,
  words: { min: 0, max: 2 },
  options: {
    provider: { value: "provider", help: `who sends: ${sourceProviders.join(", ")}`, choices: [...sourceProviders] },
    "secret-env": { value: "VAR", help: "the environment variable that has the secret" },
    "secret-stdin": { help: "read the secret from standard input" },
    events: { value: "prefix", help: "what names of events begin with; the source's name unless given" },
    key: {
      value: "path",
      isMany: true,
      help: "a path in the payload that makes two deliveries the same although their ids differ; may be repeated",
    },
    window: { value: "35d", help: "how long ids are remembered" },
    "allow-other-senders": { help: "let event keys and the API send events under the source's names" },
    "public-url": { value: "url", help: "where the provider reaches the source, where that is signed (Twilio)" },
    header: { value: "name", help: "generic-hmac: the header with the signature" },
    prefix: { value: "text", help: 'generic-hmac: what stands before it, such as "sha256="' },
    "id-header": { value: "name", help: "generic-hmac: the header that names a delivery" },
    reason: { value: "text", help: "why it is removed; kept in the store's audit" },
    ...serverOptions,
  },
  details: [
    "Deliveries are verified, kept as events `<name>/<type>` under the provider's own id, and answered; a second delivery starts nothing.",
    "Events under its names are refused by every other way in, unless it is made with --allow-other-senders.",
    "Without a secret one is made where the provider takes ours (github, standard-webhooks, generic-hmac), and shown once.",
    "`rotate` adds a second secret; both are accepted until `drop-old`.",
  ],
  examples: [
    "idem webhooks add stripe --provider stripe --secret-env STRIPE_WEBHOOK_SECRET",
    "idem webhooks add ci --provider github",
    "idem webhooks rotate stripe --secret-env NEW_STRIPE_SECRET",
    'idem webhooks remove ci --reason "moved to another server"',
  ],
  async run(context) {
    const [action, name] = context.words;
    if (action === undefined) return list(context);
    if (!actions.some((each) => each === action)) {
      throw usage(`"${printable(action)}" is none of ${actions.join(", ")}; without one, sources are listed.`);
    }
    if (name === undefined) throw usage(`Say which source: idem webhooks ${action} <name>.`);
    const source = readSourceName(name);
    switch (action as (typeof actions)[number]) {
      case "add":
        return add(context, source);
      case "rotate":
        return rotate(context, source);
      case "drop-old":
        return dropOld(context, source);
      case "remove":
        return remove(context, source);
    }
  },
};

async function add(context: Context, source: string): Promise<number> {
  const { provider, events, window, header, prefix } = context.options;
  if (provider === undefined) throw usage(`Say who sends: --provider ${sourceProviders.join(" | ")}.`);
  if (!sourceProviders.some((each) => each === provider)) {
    throw usage(`--provider is "${printable(provider)}"; it must be one of ${sourceProviders.join(", ")}.`);
  }
  const given: SourceConfig = {
    provider: provider as SourceProvider,
    ...(events === undefined ? {} : { events }),
    ...(window === undefined ? {} : { window }),
    ...(header === undefined ? {} : { header }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(context.lists.key === undefined ? {} : { key: [...context.lists.key] }),
    ...(context.flags.has("allow-other-senders") ? { allowOtherSenders: true } : {}),
    ...(context.options["public-url"] === undefined ? {} : { publicUrl: context.options["public-url"] }),
    ...(context.options["id-header"] === undefined ? {} : { idHeader: context.options["id-header"] }),
  };
  const { secret, made } = await secretFor(context, given.provider);
  const shown = await (await webhookSources(context)).add(source, given, secret);
  if (context.isJson) context.json({ source: shown, secret: made });
  else {
    context.say(`source ${source} is received at ${sourcePath(context.env, source)} of every server on this store`);
    tellSecret(context, made);
  }
  return exitCodes.ok;
}

async function rotate(context: Context, source: string): Promise<number> {
  const sources = await webhookSources(context);
  const known = (await sources.list()).find(({ name }) => name === source);
  if (known === undefined) throw errors.SOURCE_UNKNOWN({ source });
  const { secret, made } = await secretFor(context, known.provider);
  const shown = await sources.addSecret(source, secret);
  if (context.isJson) context.json({ source: shown, secret: made });
  else {
    context.say(
      `source ${source} accepts both its secrets; once the provider signs with the new one: idem webhooks drop-old`,
    );
    tellSecret(context, made);
  }
  return exitCodes.ok;
}

async function dropOld(context: Context, source: string): Promise<number> {
  const shown = await (await webhookSources(context)).dropOldSecret(source);
  if (context.isJson) context.json({ source: shown, secret: null });
  else context.say(`source ${source} keeps its newest secret only`);
  return exitCodes.ok;
}

async function remove(context: Context, source: string): Promise<number> {
  const { reason } = context.options;
  if (reason === undefined || reason.trim() === "") {
    throw usage("Say why with --reason: whoever wonders why deliveries are refused will look for it.");
  }
  await (await webhookSources(context)).remove(source, reason);
  if (context.isJson) context.json({ removed: source });
  else context.say(`source ${source} is removed; what it received stays, and its provider is told 404 from now on`);
  return exitCodes.ok;
}

function tellSecret(context: Context, made: string | null): void {
  if (made === null) return;
  context.say(`secret: ${made}`);
  context.remark("Give it to the provider now: it is not shown again.");
}

async function secretFor(
  context: Context,
  provider: SourceProvider,
): Promise<{ readonly secret: string; readonly made: string | null }> {
  const variable = context.options["secret-env"];
  const fromInput = context.flags.has("secret-stdin");
  if (variable !== undefined && fromInput) throw usage("Give --secret-env or --secret-stdin, not both.");
  if (variable !== undefined) {
    const secret = context.io.env(variable);
    if (secret === undefined || secret === "")
      throw usage(`The environment variable ${printable(variable)} is not set.`);
    return { secret, made: null };
  }
  if (fromInput) {
    const secret = (await context.io.readInput()).replace(/\r?\n$/, "");
    if (secret === "") throw usage("Nothing came on standard input; the secret was expected there.");
    return { secret, made: null };
  }
  const made = generatedSecret(provider, (count) => context.io.platform.randomBytes(count));
  if (made === null) {
    throw usage(`${provider} shows a secret of its own: give it with --secret-env <VAR> or --secret-stdin.`);
  }
  return { secret: made, made };
}

async function list(context: Context): Promise<number> {
  const sources = await (await webhookSources(context)).list();
  if (context.isJson) {
    context.json(sources);
    return exitCodes.ok;
  }
  if (sources.length === 0) {
    context.remark("No sources of webhooks. Make one: idem webhooks add stripe --provider stripe --secret-env <VAR>");
    return exitCodes.ok;
  }
  const { io, paint } = context;
  const now = context.now();
  io.out.write(
    table(
      [
        { title: "SOURCE" },
        { title: "PROVIDER" },
        { title: "RECEIVED AT", shrinks: true },
        { title: "EVENTS", shrinks: true },
        { title: "WINDOW" },
        { title: "SECRETS", align: "right" },
        { title: "MADE", shrinks: true, drops: true },
      ],
      sources.map(({ name, provider, events, window, secrets, createdAt }) => [
        name,
        provider,
        sourcePath(context.env, name),
        `${printable(events ?? name)}/…`,
        window ?? "35d",
        String(secrets.length),
        when(createdAt, now),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
  return exitCodes.ok;
}
