// A child of bench/postgres.ts: sends events under one kind of key for a time. A client that is never started executes nothing, so that only
// accepting events is measured.
import type { Client } from "pg";
import { driverOfPostgres, Idem } from "../engine.ts";
import { keepInFlight, keepInFlightFor, shuffled } from "../measure.ts";

/** Every event has an id and a key of its own, or all have one key, or all have one id and one key. */
export type KeyUse = "distinct" | "one-key" | "one-id";

export interface HotLoad {
  readonly kind: "load";
  readonly use: KeyUse;
  readonly callers: number;
  readonly eventsPerCall: number;
  /** After as many to warm up; null to send for a time. */
  readonly calls: number | null;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** The key that all events of the load share. */
  readonly hotKey: string;
}

export type HotRequest = HotLoad | { readonly kind: "stop" };

export interface HotFigures {
  readonly eventsPerSecond: number;
  readonly callP50Ms: number;
  readonly callP99Ms: number;
  /** For an event, warm-up included. */
  readonly statements: number;
}

export type HotResponse = { readonly kind: "ready" } | { readonly kind: "figures"; readonly figures: HotFigures };

const [store, firstKey] = process.argv.slice(2) as [string, string];
let statements = 0;
const { prototype } = driverOfPostgres().Client;
const { query } = prototype;
prototype.query = function (this: Client, ...input: unknown[]) {
  statements++;
  return (query as (...input: unknown[]) => unknown).apply(this, input);
} as typeof query;

const idem = new Idem({ id: "bench", store });
idem.createFunction({ id: "hot", idempotency: "event.data.key" }, { event: "bench/hot" }, () => null);

let next = Number(firstKey);

async function take({ use, callers, eventsPerCall, calls, hotKey, ...window }: HotLoad): Promise<HotFigures> {
  let events = 0;
  statements = 0;
  const call = async () => {
    const batch = Array.from({ length: eventsPerCall }, () => {
      const own = `${shuffled(next++)}`;
      // A sender that repeats itself repeats both.
      const key = use === "distinct" ? own : hotKey;
      return { name: "bench/hot", id: use === "one-id" ? hotKey : own, data: { key } };
    });
    events += eventsPerCall;
    await idem.send(batch);
  };
  if (calls !== null) await keepInFlight(callers, calls, call);
  const { perSecond, p50Ms, p99Ms } = await (calls === null
    ? keepInFlightFor(callers, window, call)
    : keepInFlight(callers, calls, call));
  return {
    eventsPerSecond: perSecond * eventsPerCall,
    callP50Ms: p50Ms,
    callP99Ms: p99Ms,
    statements: statements / events,
  };
}

process.once("disconnect", () => process.exit(1));
process.on("message", (request: HotRequest) => {
  if (request.kind === "stop") void idem.stop().then(() => process.exit(0));
  else {
    void take(request).then((figures) => process.send!({ kind: "figures", figures } satisfies HotResponse));
  }
});
await idem.functions.list();
process.send!({ kind: "ready" } satisfies HotResponse);
