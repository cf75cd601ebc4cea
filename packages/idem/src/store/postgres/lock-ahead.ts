// What a transaction is going to wait for it waits for ahead, all of a kind at once and everybody in one order, so that nobody ever
// waits for somebody who waits for him: a deadlock is undone by the server, but only after a second.
//
//   buffers · event ids · singleton keys · function keys · rate limits · jobs of runs to be cancelled · slots · throttles
//
// A key that is taken is only read, unless what has it is to let go of it (claim-key.ts). It may lock more than is needed, where an event turns
// out to be a duplicate. What was not foreseen is locked when it is met.

import { readLane } from "../../flow/lane.ts";
import { isSingletonScope, singletonAsk, singletonScope } from "../../flow/singleton/plan.ts";
import { askFor, eventIdAsk, functionKeyAsk } from "../../model/claim.ts";
import type { NewEvent, StartPair } from "../ingest.ts";
import type { ClosedClaim } from "../rules/database.ts";
import { claimsOfRun } from "../rules/end-run.ts";
import { rateTurn } from "../rules/limit-starts.ts";
import type { Asking } from "../rules/new-run.ts";
import { driveAwaited } from "../rules/rule.ts";
import { type ExpectedAsk, lockClaim, lockExpected } from "./claim-key.ts";
import { noLocks } from "./lane-slots.ts";
import { lockBuffers } from "./lock-buffers.ts";
import { lockNames, slotLock } from "./lock-name.ts";
import { compareTexts } from "./text.ts";
import type { Transaction } from "./transaction.ts";

/** A pair that asks now, not when its buffer becomes a run. */
interface Start {
  readonly env: string;
  readonly pair: StartPair;
}

const lockJobsSql = `
  select 1 from unnest(cast(? as text[]), cast(? as text[])) as asked (env, id)
   cross join lateral (select 1 from jobs where env = asked.env and id = asked.id for update) job`;

interface LockOptions {
  /** Locks of slots that a run at work may want more of. */
  readonly held?: readonly string[];
  /** Taken keys are locked too: what has them is locked next, and may not be another run by then. */
  readonly locksTaken?: boolean;
}

/** `closed`: claims that the transaction is going to let go of, because a run ends. */
export async function lockAhead(
  tx: Transaction,
  askings: readonly Asking[],
  closed: { readonly env: string; readonly claims: readonly ClosedClaim[] } | null = null,
  { held = noLocks, locksTaken = false }: LockOptions = {},
): Promise<void> {
  const starts = askings.flatMap(({ env, pairs }) =>
    pairs.flatMap((pair) => (pair.kind === "start" ? [{ env, pair }] : [])),
  );
  const buffered = askings.filter(({ pairs }) => pairs.some((pair) => pair.kind === "start" && isBuffered(pair)));
  const flushed = buffered.length === 0 ? [] : await lockBuffers(tx, buffered);
  const asking = [...starts.filter(({ pair }) => !isBuffered(pair)), ...flushed];
  const victims = await lockKeys(tx, askings, asking, closed, !locksTaken);
  const rates = names(asking, ({ env, pair }) => {
    const rule = pair.flow?.rateLimit ?? null;
    return rule === null ? [] : [rateTurn(env, rule.id)];
  });
  const begun = asking.filter(({ pair }) => pair.leaseTo !== null && pair.flow !== null && pair.flow.lane !== null);
  const lanes = begun.map(({ env, pair }) => ({ env, lane: readLane(pair.flow!.lane!.name) }));
  const slots = [...new Set(lanes.flatMap(({ lane }) => lane.slots.map(slotLock)))];
  if (victims.length > 0) {
    await lockNames(tx, rates);
    const inOrder = [...victims].sort((a, b) => compareTexts(a.runId, b.runId) || compareTexts(a.env, b.env));
    await tx.connection.all(
      lockJobsSql,
      inOrder.map(({ env }) => env),
      inOrder.map(({ runId }) => runId),
    );
  }
  await lockNames(tx, [...rates, ...slots, ...held]);
  await lockThrottles(
    tx,
    lanes.flatMap(({ env, lane }) => (lane.throttle === null ? [] : [{ env, id: lane.throttle }])),
  );
}

const isBuffered = ({ flow }: StartPair): boolean => flow !== null && flow.buffer !== null;

const names = (starts: readonly Start[], of: (start: Start) => string[]): string[] => [...new Set(starts.flatMap(of))];

interface Victim {
  readonly env: string;
  readonly runId: string;
}

/** Answers the runs that are going to be cancelled to make room. */
async function lockKeys(
  tx: Transaction,
  askings: readonly Asking[],
  starts: readonly Start[],
  closed: Parameters<typeof lockAhead>[2],
  mayShare: boolean,
): Promise<Victim[]> {
  const victims: Victim[] = [];
  const closing = closed?.claims.map((claim) => unchanged(closed.env, claim)) ?? [];
  const events = askings.flatMap(({ env, events }) => events.flatMap((event) => eventAsks(env, event, mayShare)));
  const singletons = starts.flatMap((start) => singletonAsks(start, mayShare));
  const keys = starts.flatMap((start) => keyAsks(start, mayShare));
  const cancelling = starts.filter(({ pair }) => pair.flow?.singleton?.mode === "cancel");
  if (cancelling.length === 0) {
    await lockExpected(tx, [...events, ...singletons, ...keys, ...closing]);
    return victims;
  }
  const isSingleton = ({ ask }: ExpectedAsk) => isSingletonScope(ask.scope);
  await lockExpected(tx, [...events, ...singletons, ...closing.filter(isSingleton)]);
  for (const { env, pair } of cancelling) {
    const rule = pair.flow!.singleton!;
    const found = await lockClaim(tx, env, singletonScope(pair.fn), rule.key);
    const asked = askFor(tx.at, found, singletonAsk(pair.fn, rule.key, pair.runId));
    if (asked.taken) continue;
    const { holder } = asked.claim;
    victims.push({ env, runId: holder });
    const releaseKey = rule.mode === "cancel" && rule.releaseKey === true;
    for (const claim of await driveAwaited(claimsOfRun(tx, env, holder, releaseKey)))
      closing.push(unchanged(env, claim));
  }
  await lockExpected(tx, [...keys, ...closing]);
  return victims;
}

const eventAsks = (env: string, event: NewEvent, mayShare: boolean): ExpectedAsk[] =>
  event.callerId === null ? [] : [{ env, ask: eventIdAsk(event, event.callerId), state: "settled", mayShare }];

function singletonAsks({ env, pair }: Start, mayShare: boolean): ExpectedAsk[] {
  const rule = pair.flow?.singleton ?? null;
  if (rule === null) return [];
  const ask = singletonAsk(pair.fn, rule.key, pair.runId);
  return [{ env, ask, state: "in-flight", mayShare: mayShare && rule.mode === "skip" }];
}

const keyAsks = ({ env, pair }: Start, mayShare: boolean): ExpectedAsk[] =>
  pair.key === null ? [] : [{ env, ask: functionKeyAsk(pair, pair.key, pair.runId), state: "in-flight", mayShare }];

/** For a claim that is there. Where it is not, the row that is made for it is removed again. */
const unchanged = (env: string, { scope, key }: ClosedClaim): ExpectedAsk => ({
  env,
  ask: { scope, key, holder: "", generation: "", windowMs: 0, held: false, fingerprint: null, leaseMs: null },
  state: "released",
  mayShare: false,
});

const lockTatsSql = `
  insert into throttles (env, id, tat)
  select env, id, 0 from unnest(cast(:envs as text[]), cast(:ids as text[])) as asked (env, id)
  on conflict (env, id) do update set tat = throttles.tat`;

/** Several, in the one order in which everybody locks them. */
async function lockThrottles(
  tx: Transaction,
  throttles: readonly { readonly env: string; readonly id: string }[],
): Promise<void> {
  if (throttles.length === 0) return;
  const byName = new Map(throttles.map((throttle) => [JSON.stringify([throttle.env, throttle.id]), throttle]));
  const inOrder = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, throttle]) => throttle);
  const params = { envs: inOrder.map(({ env }) => env), ids: inOrder.map(({ id }) => id) };
  await tx.connection.find(lockTatsSql, params);
}
