// Many runs that each invoke a function and wait for its run, in one transaction: their events are stored and their children opened as by
// calls that only store events (ingest-batch.ts), and they begin to wait as runs that wait for anything else (suspend-runs.ts). Only where the
// child is a new run, opened for this call: one that is there already is locked before those who wait for it, and is looked at alone.
import { askFor, functionKeyAsk, functionScope } from "../../model/claim.ts";
import type { Advanced, AdvanceInput, NestedIngest } from "../advance.ts";
import type { Ingested, StartPair } from "../ingest.ts";
import { ingestNested } from "../rules/ingest-events.ts";
import { driveAwaited } from "../rules/rule.ts";
import { lockClaim } from "./claim-key.ts";
import { storeAhead } from "./ingest-batch.ts";
import { hasSlots } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { gaveBack, giveBack, inJobOrder, lockHeld, onlyQuiet, soleWait, type Waiting } from "./suspend-runs.ts";
import { inEnv, type Transaction } from "./transaction.ts";

/** The end of each looks for whoever waits for it. Nobody else has seen them yet. */
const awaitRunsSql = `
  update runs set awaited = 1 where env = any(cast(:envs as text[])) and id = any(cast(:ids as text[])) and ended_state is null`;

interface Invoking extends Waiting {
  readonly nested: NestedIngest;
  readonly pair: StartPair;
}

/** One run to open and to wait for, and nothing else to do; null for anything more. */
export function onlyInvoke(input: AdvanceInput): { readonly nested: NestedIngest; readonly pair: StartPair } | null {
  const nested = input.ingest;
  if (nested === null || nested.events.length !== 1 || nested.pairs.length !== 1) return null;
  const [pair] = nested.pairs;
  const wait = soleWait(input);
  const [event] = nested.events;
  // An event with its sender's id may be a duplicate, which opens no run.
  const isPlain = pair?.kind === "start" && pair.flow === null && event!.ifAwaited !== true && event!.callerId === null;
  return isPlain && wait?.kind === "run" && wait.pair === 0 ? { nested, pair } : null;
}

/** Null for each that has to be looked at alone. `registrations`: of each environment they are for. */
export async function invokeRuns(
  tx: Transaction,
  inputs: readonly AdvanceInput[],
  registrations: ReadonlyMap<string, number>,
): Promise<readonly (Advanced | null)[]> {
  for (const [env, registration] of registrations) tx.ahead.registrations.set(env, registration);
  const given = inJobOrder(inputs.map(toInvoke).filter((each) => isCurrent(tx, each)));
  await lockAhead(tx, given.map(asking), null, { locksTaken: true });
  const [held, quiet] = await Promise.all([lockHeld(tx, given), onlyQuiet(tx, given)]);
  const isQuiet = new Set(quiet);
  const free = await newChildren(
    tx,
    held.filter((each) => isQuiet.has(each)),
  );
  await storeAhead(tx, free.map(asking));
  // Not one that was sent before: its run may have ended, or been rerun since.
  const opening = free.filter(({ input, nested }) => tx.ahead.events.get(inEnv(input.env, nested.events[0]!.id)));
  const ingested = new Map<number, Ingested>();
  for (const { n, input, nested, pair } of opening) {
    const answer = await driveAwaited(ingestNested(tx, input.env, nested));
    const [decision] = answer.decisions;
    if (decision?.kind !== "started" || decision.runId !== pair.runId) {
      throw new Error(`run ${pair.runId} was to be opened, and the answer is ${decision?.kind}`);
    }
    ingested.set(n, answer);
  }
  if (opening.length > 0) {
    tx.connection.send(awaitRunsSql, {
      envs: [...new Set(opening.map(({ input }) => input.env))],
      ids: opening.map(({ pair }) => pair.runId),
    });
  }
  const lanes = await giveBack(tx, opening);
  if (lanes.size !== opening.length) throw new Error("a run that was held and quiet did not begin to wait");
  return inputs.map((input, n) => {
    const lane = lanes.get(n);
    return lane === undefined ? null : gaveBack(input, tx.at.now, hasSlots(lane), ingested.get(n)!);
  });
}

function toInvoke(input: AdvanceInput, n: number): Invoking {
  const { nested, pair } = onlyInvoke(input)!;
  return { n, input, wait: input.waits[0]!, childRunId: pair.runId, nested, pair };
}

/** A call that was decided by an older picture stores nothing; one whose wait is over before it begins has news. */
function isCurrent(tx: Transaction, { input, nested, wait }: Invoking): boolean {
  const { registration } = nested;
  const isRegistered = registration === null || registration === tx.ahead.registrations.get(input.env);
  return isRegistered && (wait.timeoutAt === null || wait.timeoutAt > tx.at.now);
}

const asking = ({ input, nested }: Invoking) => ({ env: input.env, events: nested.events, pairs: nested.pairs });

/** Those whose keys are free; of two that ask for one key only the first. */
async function newChildren(tx: Transaction, invoking: readonly Invoking[]): Promise<readonly Invoking[]> {
  const asked = new Set<string>();
  const opening: Invoking[] = [];
  for (const each of invoking) {
    const { input, pair } = each;
    if (pair.key !== null) {
      const scope = functionScope(pair.fn);
      const name = inEnv(input.env, JSON.stringify([scope, pair.key]));
      const found = await lockClaim(tx, input.env, scope, pair.key);
      if (asked.has(name) || !askFor(tx.at, found, functionKeyAsk(pair, pair.key, pair.runId)).taken) continue;
      asked.add(name);
    }
    opening.push(each);
  }
  return opening;
}
