// Many calls that store events, in one transaction. What nearly all of them need is read and written for all at once, ahead of them: their
// events are stored, their keys locked or read with what answers for them, and whoever waits for such events looked up. Then each call is decided as it would be alone.
import type { Ingested, IngestInput, StaleRegistration } from "../ingest.ts";
import { ingestEvents } from "../rules/ingest-events.ts";
import type { Asking } from "../rules/new-run.ts";
import { registrationOf } from "../rules/register-functions.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { readRoom } from "./lane-slots.ts";
import { lockAhead } from "./lock-ahead.ts";
import { RuleDatabase } from "./rule-database.ts";
import { compareTexts } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

const storeEventsSql = `
  insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp, source_run_id)
  select env, id, caller_id, name, data, ts, extra, cast(:now as bigint), stamp, source_run_id
    from unnest(cast(:envs as text[]), cast(:ids as text[]), cast(:callerIds as text[]), cast(:names as text[]),
                cast(:datas as text[]), cast(:tss as bigint[]), cast(:extras as text[]), cast(:stamps as bigint[]),
                cast(:sources as text[]))
      as given (env, id, caller_id, name, data, ts, extra, stamp, source_run_id)
  on conflict (env, id) do nothing
  returning env, id`;

/** The registration of each environment the calls are for. */
export async function registrationsOf(connection: Connection, inputs: readonly Pick<IngestInput, "env">[]) {
  const db = new RuleDatabase(connection);
  const envs = [...new Set(inputs.map(({ env }) => env))];
  const found = await Promise.all(envs.map((env) => driveAwaited(registrationOf(db, env))));
  return new Map(envs.map((env, i) => [env, found[i]!]));
}

export async function ingestBatch(
  tx: Transaction,
  inputs: readonly IngestInput[],
  registrations: ReadonlyMap<string, number>,
): Promise<(Ingested | StaleRegistration)[]> {
  for (const [env, registration] of registrations) tx.ahead.registrations.set(env, registration);
  // A call that was decided by an older picture must store nothing.
  const isCurrent = ({ env, registration }: IngestInput) =>
    registration === null || registration === tx.ahead.registrations.get(env);
  await storeAhead(tx, inputs.filter(isCurrent));
  const answers: (Ingested | StaleRegistration)[] = [];
  for (const input of inputs) answers.push(await driveAwaited(ingestEvents(tx, input)));
  return answers;
}

/** One call by itself. */
export async function ingestCall(tx: Transaction, input: IngestInput): Promise<Ingested | StaleRegistration> {
  return (await ingestBatch(tx, [input], await registrationsOf(tx.connection, [input])))[0]!;
}

/** Locks what the calls are going to ask for, and stores their events. */
export async function storeAhead(tx: Transaction, inputs: readonly Asking[]): Promise<void> {
  const cancelling = cancellingNames(inputs);
  const events = new Map(
    inputs.flatMap(({ env, events }) =>
      events
        .filter(({ name }) => !cancelling.has(inEnv(env, name)))
        .map((event) => [inEnv(env, event.id), { env, event }] as const),
    ),
  );
  if (events.size === 0) return lockStarts(tx, inputs);
  const given = [...events.values()].sort((a, b) => compareTexts(a.event.id, b.event.id) || compareTexts(a.env, b.env));
  // Stamps follow the order of the calls, rows the order in which everybody stores them.
  const stamps = new Map([...events.keys()].map((id) => [id, tx.stamp()]));
  const names = new Map(given.map(({ env, event }) => [inEnv(env, event.name), { env, name: event.name }]));
  const [stored, , awaited] = await Promise.all([
    tx.connection.find<{ env: string; id: string }>(storeEventsSql, {
      now: tx.at.now,
      envs: given.map(({ env }) => env),
      ids: given.map(({ event }) => event.id),
      callerIds: given.map(({ event }) => event.callerId),
      names: given.map(({ event }) => event.name),
      datas: given.map(({ event }) => event.data),
      tss: given.map(({ event }) => event.ts),
      extras: given.map(({ event }) => event.extra),
      stamps: given.map(({ env, event }) => stamps.get(inEnv(env, event.id))!),
      sources: given.map(({ event }) => event.sourceRunId),
    }),
    lockStarts(tx, inputs),
    // Behind the insert, in the same order on the server: wait-checks.ts relies on it.
    tx.waitChecks.arrive(tx, given),
  ]);
  const isStored = new Set(stored.map(({ env, id }) => inEnv(env, id)));
  for (const [id, { event }] of events) {
    tx.ahead.events.set(id, isStored.has(id));
    if (isStored.has(id)) tx.ahead.answers.events.set(id, event);
  }
  const isAwaited = new Set(awaited.map(({ env, name }) => inEnv(env, name)));
  for (const id of names.keys()) tx.ahead.awaited.set(id, isAwaited.has(id));
}

async function lockStarts(tx: Transaction, inputs: readonly Asking[]): Promise<void> {
  await lockAhead(tx, inputs);
  await readRoom(tx, inputs);
}

/** Events that may cancel what the same calls start are stored in their turn: they cancel what was started before them. */
function cancellingNames(inputs: readonly Asking[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { env, pairs } of inputs) {
    for (const pair of pairs) {
      if (pair.kind !== "start" || pair.flow === null) continue;
      for (const { eventName } of pair.flow.cancelOn) names.add(inEnv(env, eventName));
    }
  }
  return names;
}
