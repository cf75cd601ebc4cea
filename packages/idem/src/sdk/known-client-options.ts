// Every option of a client and of its methods, by name.
import { type Foreign, refuseUnknown } from "../model/known-options.ts";
import type { UserTransaction } from "../store/outbox.ts";
import type { IdemOptions, SendOptions } from "./client-options.ts";
import type { EffectsApi, EffectsFilter, EffectVerdict } from "./effects-api.ts";
import type { EventSchemas } from "./event-types.ts";
import type { LimitOptions, PauseOptions, ResumeOptions } from "./functions-api.ts";
import type { EventsApi, RunsApi, RunsFilter, VerdictOptions } from "./reads-api.ts";
import type { StoreReads } from "./remote-reads.ts";

// Of the `inngest` package, v3 and v4.
const foreignOptions = {
  baseUrl: "the address of a server is the option `server`",
  isDev: "a client with a store needs no server, and a server in dev asks for no keys",
  fetch: "requests are made by `platform`",
  schemas: "schemas are given as `events`, by event name",
  internalLogger: "Idem's own lines go to `logger`",
  appVersion: "an app has no version here",
  optimizeParallelism: "steps side by side run in one pass",
  checkpointing: "every step is kept as it ends",
  experimentalCheckpointing: "every step is kept as it ends",
  aiMetadata: "no metadata is collected",
  sessionPropagation: "sessions are not passed on",
  endpointAdapter: "endpoints are served by the app's own SDK",
};

export function refuseUnknownClientOptions(options: IdemOptions<EventSchemas>, warn: Foreign["warn"]): void {
  refuseUnknown<IdemOptions>(
    "new Idem",
    options,
    {
      id: true,
      was: true,
      store: true,
      server: true,
      env: true,
      events: true,
      eventWindow: true,
      runsInFlight: true,
      bytesInFlight: true,
      runLogs: true,
      blockedMax: true,
      storeTimeout: true,
      retention: true,
      radar: true,
      middleware: true,
      logger: true,
      logStyle: true,
      platform: true,
      eventKey: true,
      signingKey: true,
      signingKeyFallback: true,
    },
    { options: foreignOptions, warn },
  );
}

const sendOptions = { window: true, tx: true, waitUntil: true } as const;

export function refuseUnknownSendOptions(options: unknown, warn: Foreign["warn"]): void {
  refuseUnknown<SendOptions & { tx: UserTransaction }>("send", options, sendOptions, {
    options: { env: "a client sends to its own environment" },
    warn,
  });
}

const pageOf = { before: true, limit: true } as const;
const byHand = { reason: true, actor: true } as const;

/** The same reads, wherever the store is: a filter with an unknown word would be answered with too much. */
export function checkedReads(reads: StoreReads): StoreReads {
  const { runs, events, functions, effects } = reads;
  const verdict = (call: string, options: unknown) =>
    refuseUnknown<VerdictOptions>(`events.${call}`, options, { function: true, ...byHand });
  const waitChecked: RunsApi["wait"] = async (id, options) => {
    refuseUnknown<OptionsOf<RunsApi["wait"]>>("runs.wait", options, { signal: true, timeout: true });
    return runs.wait(id, options);
  };
  const waitWith: RunsApi["wait"] = (id, options) => (options === undefined ? runs.wait(id) : waitChecked(id, options));
  return {
    ...reads,
    runs: {
      ...runs,
      list: async (filter) => {
        const known = { function: true, state: true, eventId: true, ...pageOf } as const;
        refuseUnknown<RunsFilter>("runs.list", filter, known);
        return runs.list(filter);
      },
      wait: (id, options) => (options === undefined ? runs.wait(id) : waitWith(id, options)),
      cancel: async (id, options) => {
        refuseUnknown<OptionsOf<RunsApi["cancel"]>>("runs.cancel", options, byHand);
        return runs.cancel(id, options);
      },
      release: async (id, options) => {
        refuseUnknown<OptionsOf<RunsApi["release"]>>("runs.release", options, byHand);
        return runs.release(id, options);
      },
      rerun: async (id, options) => {
        const known = { fromStep: true, input: true, data: true, actor: true } as const;
        refuseUnknown<OptionsOf<RunsApi["rerun"]>>("runs.rerun", options, known);
        return runs.rerun(id, options);
      },
    },
    events: {
      ...events,
      list: async (filter) => {
        type Filter = NonNullable<Parameters<EventsApi["list"]>[0]>;
        refuseUnknown<Filter>("events.list", filter, { name: true, ...pageOf });
        return events.list(filter);
      },
      release: async (id, options) => {
        verdict("release", options);
        return events.release(id, options);
      },
      drop: async (id, options) => {
        verdict("drop", options);
        return events.drop(id, options);
      },
    },
    functions: {
      ...functions,
      pause: async (id, options) => {
        refuseUnknown<PauseOptions>("functions.pause", options, byHand);
        return functions.pause(id, options);
      },
      limit: async (id, options) => {
        const known = { ...byHand, concurrency: true, for: true, which: true } as const;
        refuseUnknown<LimitOptions>("functions.limit", options, known);
        return functions.limit(id, options);
      },
      resume: async (id, options) => {
        refuseUnknown<ResumeOptions>("functions.resume", options, { ...byHand, waiting: true });
        return functions.resume(id, options);
      },
    },
    effects: {
      list: async (filter) => {
        const known = { destination: true, entity: true, parked: true, runId: true, after: true, limit: true } as const;
        refuseUnknown<EffectsFilter>("effects.list", filter, known);
        return effects.list(filter);
      },
      doubled: async (options) => {
        const known = { within: true, destination: true, limit: true } as const;
        refuseUnknown<Parameters<EffectsApi["doubled"]>[0]>("effects.doubled", options, known);
        return effects.doubled(options);
      },
      resolve: async (id, verdict, options) => {
        refuseUnknown<Exclude<EffectVerdict, "retry">>("effects.resolve", verdict, { receipt: true, value: true });
        refuseUnknown<{ reason: string }>("effects.resolve", options, { reason: true });
        return effects.resolve(id, verdict, options);
      },
    },
  };
}

type OptionsOf<Call extends (id: string, options?: never) => unknown> = NonNullable<Parameters<Call>[1]>;
