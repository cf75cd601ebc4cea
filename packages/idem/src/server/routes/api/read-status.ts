// GET /api/status: what this server is and how much it has to do.
import { z } from "zod";
import { type FunctionConfig, whyNoKey } from "../../../model/function-config.ts";
import { readPackageText } from "../../../platform/package-files.ts";
import { apiRoute } from "../../api/api-route.ts";
import type { World } from "../../world.ts";

const { version } = JSON.parse(readPackageText("../package.json")) as { version: string };

const quotaCounts = { requests: z.number().int(), events: z.number().int(), bytes: z.number().int() };

export const readStatus = apiRoute({
  method: "GET",
  path: "/api/status",
  summary: "Read what this server is and how much it has to do",
  tag: "server",
  answer: z.object({
    version: z.string(),
    mode: z.enum(["dev", "start"]),
    origin: z.string(),
    isMounted: z
      .boolean()
      .describe("Beside an application's own engine: apps, senders and providers cannot reach it here"),
    store: z.string().describe("Without credentials"),
    env: z.string(),
    environments: z.array(z.string()).describe("Those that are open in this process; for a signing key, its own"),
    now: z.number().int().describe("By the store's clock"),
    registration: z.number().int().describe("Of the functions; the digests of /api/live say when it is another"),
    functions: z.object({ count: z.number().int(), paused: z.number().int(), withoutKey: z.number().int() }),
    eventQuota: z
      .object({
        windowMs: z.number().int(),
        ...quotaCounts,
        keys: z.array(
          z.object({
            place: z.number().int().describe("Among the event keys of this environment, from 1"),
            used: z.object(quotaCounts).describe("In the window that is open now, by this node"),
            refused: z
              .object(quotaCounts)
              .describe("Requests answered with 429 since the start, by what they were too many of"),
          }),
        ),
      })
      .nullable()
      .describe("What may be sent with one event key in a window; null where there is no bound"),
    runs: z.object({
      queued: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
      due: z.number().int(),
    }),
  }),
  handle: async ({ world, engine, env, now, actor }) => {
    const { reads } = engine.store;
    const [{ functions }, counts] = await Promise.all([reads.functions(env), reads.counts(env)]);
    const { queued, running, waiting, dueByFunction } = counts;
    return {
      version,
      mode: world.settings.mode,
      origin: world.origin,
      isMounted: world.isMounted === true,
      store: withoutCredentials(world.settings.store),
      env,
      environments: actor.onlyEnv === null ? [...world.engines.keys()].sort() : [actor.onlyEnv],
      now,
      // As the digests have it, so that a page reads once for each: a store shared with others may be ahead of both for a moment.
      registration: engine.registry.registration,
      functions: {
        count: functions.length,
        paused: functions.filter(({ pausedAt }) => pausedAt !== null).length,
        withoutKey: functions.filter(({ fn }) => lacksKey(engine.registry.get(fn)?.config)).length,
      },
      eventQuota: eventQuotaOf(world, env),
      runs: { queued, running, waiting, due: Object.values(dueByFunction).reduce((sum, due) => sum + due, 0) },
    };
  },
});

function eventQuotaOf({ eventQuotas }: World, env: string) {
  if (eventQuotas === undefined) return null;
  const keys = eventQuotas
    .uses()
    .filter((use) => use.env === env)
    .map(({ place, used, refused }) => ({ place, used, refused }));
  return { ...eventQuotas.quota, keys };
}

const lacksKey = (config: FunctionConfig | undefined): boolean =>
  config === undefined || (config.idempotency === null && whyNoKey(config) === null);

/** A database's address holds a password; a file's does not. */
function withoutCredentials(address: string): string {
  if (/^(sqlite|memory):/.test(address)) return address;
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return "a store given to the server";
  }
}
