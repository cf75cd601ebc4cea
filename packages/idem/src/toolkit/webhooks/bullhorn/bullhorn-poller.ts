// Pulls a subscription of Bullhorn's into the engine or into a database of the user's: every event at least once from there, exactly once here.

import { parseDuration } from "../../../model/duration.ts";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { Idem } from "../../../sdk/client.ts";
import { inside } from "../../../sdk/inside.ts";
import { newOwner } from "../../claim/claim-operations.ts";
import { repeating } from "../../claim/work-under-claim.ts";
import type { Adapter } from "../../sql/adapter.ts";
import { readyTables } from "../../sql/ready-tables.ts";
import { type CoalesceOptions, type Coalescing, readCoalesce } from "../coalesce.ts";
import { defineCoalescer } from "../coalesce-in-engine.ts";
import { readSource } from "../webhook.ts";
import type { BullhornClient, BullhornEvent } from "./bullhorn-event.ts";
import { holdCursor } from "./cursor-in-database.ts";
import { engineCursor } from "./cursor-in-engine.ts";
import { type Pulled, pullEvents } from "./pull-events.ts";

export interface BullhornPollerOptions {
  readonly client: BullhornClient;
  readonly subscription: string;
  /** A client of the engine, or an adapter of your database. */
  readonly into: Idem | Adapter<unknown>;
  /** "bullhorn" by default; two subscriptions need two. */
  readonly source?: string;
  readonly coalesce?: CoalesceOptions<BullhornEvent>;
  /** Of one fetch, 1 to 100; 100 by default. */
  readonly maxEvents?: number;
  /** Into a database: how often, "30s" by default. Into the engine it is the schedule `cron`, every minute by default. */
  readonly every?: string | number;
  readonly cron?: string;
  /** Into a database: "60s" by default. It has to be longer than one fetch takes. */
  readonly lease?: string | number;
  /** Batches that cannot be got again. The alarm is also an event, `<source>/events_lost`, in the commit that passes over them. */
  readonly onLost?: (lost: {
    readonly source: string;
    readonly subscription: string;
    readonly batchCount: number;
  }) => void;
  readonly report?: (what: string, error: unknown) => void;
  readonly platform?: Platform;
}

export type PullAnswer = Pulled | { readonly kind: "in-flight" };

export interface BullhornPoller {
  /** Pulls now; `in-flight` when somebody else does. */
  pull(): Promise<PullAnswer>;
  /** Into a database: begins to pull every so often. Into the engine the engine's own schedule does. */
  start(): void;
  stop(): Promise<void>;
}

const knownOptions = {
  client: true,
  subscription: true,
  into: true,
  source: true,
  coalesce: true,
  maxEvents: true,
  every: true,
  cron: true,
  lease: true,
  onLost: true,
  report: true,
  platform: true,
} as const;

export function bullhornPoller(options: BullhornPollerOptions): BullhornPoller {
  refuseUnknown<BullhornPollerOptions>("bullhornPoller", options, knownOptions);
  const { client, subscription, into, maxEvents = 100, onLost } = options;
  if (!Number.isInteger(maxEvents) || maxEvents < 1 || maxEvents > 100) {
    const why = "it must be a whole number from 1 to 100";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "bullhornPoller", option: "maxEvents", why });
  }
  const source = readSource(options.source ?? "bullhorn");
  const coalesce = options.coalesce === undefined ? null : readCoalesce(options.coalesce);
  const pulling = { client, subscription, maxEvents };
  const told = (pulled: Pulled): Pulled => {
    if (pulled.lostCount > 0) onLost?.({ source, subscription, batchCount: pulled.lostCount });
    return pulled;
  };
  const common: Common = { ...options, source, coalesced: coalesce, pulling, told };
  return "send" in into ? pollIntoEngine(common, into) : pollIntoDatabase(common, into);
}

interface Common extends BullhornPollerOptions {
  readonly source: string;
  readonly coalesced: Coalescing | null;
  readonly pulling: Parameters<typeof pullEvents>[0];
  told(pulled: Pulled): Pulled;
}

function pollIntoEngine(
  { source, subscription, coalesced, pulling, told, ...options }: Common,
  idem: Idem,
): BullhornPoller {
  const { platform = nodePlatform, cron = "* * * * *" } = options;
  const windowMs = parseDuration("366d");
  const { deliveries } = idem[inside];
  if (coalesced !== null) defineCoalescer({ idem, deliveries, source, coalesce: coalesced, windowMs, platform });
  const cursor = engineCursor({ deliveries, source, subscription, coalesce: coalesced, now: () => platform.wallMs() });
  // One open run at a time, whichever process has it: that is the single puller, and its lease is the run's.
  idem.createFunction(
    { id: `pull-${source.replaceAll("/", "-").toLowerCase()}`, singleton: { mode: "skip" } },
    [{ event: `${source}/pull` }, { cron }],
    async ({ step }) => step.run("pull", async () => told(await pullEvents(pulling, cursor))),
  );
  return {
    async pull() {
      // Under the source's name, which at a server is reserved for it.
      const { decisions } = await deliveries.send({ name: `${source}/pull` }, { window: windowMs });
      const started = decisions.find(({ kind }) => kind === "started");
      if (started?.runId == null) return { kind: "in-flight" };
      const { state, output, error } = await idem.runs.wait(started.runId);
      if (state === "completed") return output as Pulled;
      throw new Error(`pulling ${source} ended ${state}: ${error?.message ?? "for no reason told"}`);
    },
    start() {},
    async stop() {},
  };
}

function pollIntoDatabase(common: Common, adapter: Adapter<unknown>): BullhornPoller {
  const { source, subscription, coalesced, pulling, told, platform = nodePlatform } = common;
  const leaseMs = parseDuration(common.lease ?? "60s", "lease");
  const everyMs = parseDuration(common.every ?? "30s", "every");
  const report = common.report ?? ((what, error) => console.error(`Idem webhooks: ${what}`, error));
  const at = { adapter, source, subscription, leaseMs, coalesce: coalesced };
  let open: Promise<PullAnswer> | null = null;

  const pullOnce = async (): Promise<PullAnswer> => {
    await readyTables(adapter, ["processed_webhook_events"]);
    const held = await holdCursor(at, newOwner(platform));
    if (held.kind === "in-flight") return held;
    try {
      return told(await pullEvents(pulling, held.cursor));
    } finally {
      await held.release();
    }
  };
  const pull = (): Promise<PullAnswer> => {
    open ??= pullOnce().finally(() => {
      open = null;
    });
    return open;
  };
  const pulls = repeating(
    platform,
    everyMs,
    async () => {
      const answer = await pull();
      return answer.kind === "done" && answer.isMore ? 0 : null;
    },
    (error) => report(`pulling ${source}`, error),
  );
  return {
    pull,
    start: () => pulls.start(0),
    async stop() {
      await pulls.stop();
      await open?.catch(() => {});
    },
  };
}
