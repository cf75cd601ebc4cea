// POST /api/store/:read: one of the store's reads, for the command line elsewhere (`idem runs --server …`), which then says what it would say beside the store itself.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { ifOpens } from "../../../model/seal.ts";
import { channelKind, readChannel } from "../../../radar/channels.ts";
import type { Setting } from "../../../store/settings.ts";
import { apiRoute } from "../../api/api-route.ts";
import { storeReadInputs, storeReadNames, withoutEnvironment } from "../../api/store-read-shapes.ts";
import { readInput } from "../../read-input.ts";

export const readStore = apiRoute({
  method: "POST",
  path: "/api/store/:read",
  summary: "One read of the store, for `idem … --server` of the same version; programs use the routes above",
  tag: "store",
  viewerMay: true,
  body: { input: z.array(z.unknown()).max(4).describe("What the read takes, after the environment") },
  answer: z.object({ answer: z.unknown().describe("What the store answers") }),
  handle: async ({ params, body, engine, env, actor }) => {
    const read = storeReadNames.find((each) => each === params.read);
    if (read === undefined) {
      throw errors.REQUEST_INVALID({ why: `there is no read ${JSON.stringify(params.read?.slice(0, 60))}` });
    }
    const input = readInput(storeReadInputs[read], body.input, "input") as readonly unknown[];
    const reads = engine.store.reads as unknown as Readonly<Record<string, (...input: unknown[]) => Promise<unknown>>>;
    // A signing key hears what workers hold in its own environment.
    const own = read === "workers" && actor.onlyEnv !== null ? [actor.onlyEnv] : [];
    const answer = await reads[read]!(...(withoutEnvironment.includes(read) ? own : [env]), ...input);
    return { answer: read === "settings" ? (answer as readonly Setting[]).flatMap(withoutSecrets) : answer };
  },
});

/** Secrets of channels stay here: a channel is given by name and kind, one whose seal cannot be opened not at all. */
function withoutSecrets(setting: Setting): Setting[] {
  if (setting.kind !== channelKind) return [setting];
  const channel = ifOpens(() => readChannel(setting));
  if (channel === null) return [];
  const { kind, name, version, changedAt } = setting;
  const value = JSON.stringify({ ...channel, url: null, secret: null, from: null, to: [] });
  return [{ kind, name, version, changedAt, value }];
}
