// What duplicates are answered with is read once for all of a transaction: the run that has the key, the first event and its decisions. Ahead
// of many calls it is read for all their taken keys in one round trip; what else turns up is read by the rules and kept. What the
// transaction itself stores is known without reading.
//
//   a run of the transaction ends       the answers of keys say how their runs ended: forgotten
//   an event is decided again           its answers name its runs: forgotten
//   another transaction commits either  a duplicate is told of the moment its answer was read, as if it had come then
import { isSingletonScope } from "../../flow/singleton/plan.ts";
import { eventIdScopes } from "../../model/claim.ts";
import type { EndState } from "../../model/run.ts";
import type { EventAnswer, FirstEvent, KeyAnswer } from "../rows.ts";
import type { ClaimName } from "./claim-key.ts";
import { inEnv, type Transaction } from "./transaction.ts";

export interface KeptAnswers {
  /** By `answerId`. */
  readonly keys: Map<string, KeyAnswer>;
  /** By `env id` of the first event. */
  readonly decisions: Map<string, readonly EventAnswer[]>;
  readonly events: Map<string, FirstEvent | undefined>;
}

export const noAnswers = (): KeptAnswers => ({ keys: new Map(), decisions: new Map(), events: new Map() });

export const answerId = (env: string, holder: string, key: string): string => inEnv(env, inEnv(holder, key));

/** A key that is taken, as its requests spell it. */
export interface TakenKey extends ClaimName {
  readonly holder: string;
}

// As `answersForKey` reads it, run by run.
const keyAnswersSql = `
  select coalesce(root.newest_run_id, taken.holder) as "runId", run.ended_state as ended,
         coalesce(carried.event_id, run.event_id) as "firstEventId", first.name, first.data
    from unnest(cast(:envs as text[]), cast(:holders as text[]), cast(:keys as text[])) with ordinality as taken (env, holder, key, n)
    left join lateral (select root_run_id from runs where env = taken.env and id = taken.holder limit 1) first_run on true
    left join lateral (select newest_run_id from runs where env = taken.env and id = first_run.root_run_id limit 1) root on true
    left join lateral (
      select id, event_id, ended_state, carried from runs
       where env = taken.env and id = coalesce(root.newest_run_id, taken.holder) limit 1) run on true
    left join lateral (
      select event_id from run_events
       where env = taken.env and run_id = run.id and key = taken.key and run.carried is not null limit 1) carried on true
    left join lateral (
      select name, data from events where env = taken.env and id = coalesce(carried.event_id, run.event_id) limit 1) first on true
   order by taken.n`;

// As `answersForEvent` reads it.
const eventAnswersSql = `
  select taken.n, decision.fn, coalesce(root.newest_run_id, decision.run_id) as "runId", decision.key
    from unnest(cast(:envs as text[]), cast(:ids as text[])) with ordinality as taken (env, id, n)
   cross join lateral (select fn, run_id, key from decisions where env = taken.env and event_id = taken.id offset 0) decision
    left join lateral (select root_run_id from runs where env = taken.env and id = decision.run_id limit 1) run on true
    left join lateral (select newest_run_id from runs where env = taken.env and id = run.root_run_id limit 1) root on true
   order by taken.n, decision.fn`;

const firstEventsSql = `
  select taken.n, first.id, first.name, first.data
    from unnest(cast(:envs as text[]), cast(:ids as text[])) with ordinality as taken (env, id, n)
   cross join lateral (select id, name, data from events where env = taken.env and id = taken.id limit 1) first`;

interface KeyAnswerRow {
  readonly runId: string;
  readonly ended: EndState | null;
  readonly firstEventId: string | null;
  readonly name: string | null;
  readonly data: string | null;
}

const isEventId = ({ scope }: ClaimName): boolean => (eventIdScopes as readonly string[]).includes(scope);

/** Reads what duplicates of these keys are answered with. */
export async function readAnswers(tx: Transaction, taken: readonly TakenKey[]): Promise<void> {
  const ids = taken.filter(isEventId);
  // That a singleton is taken says all there is to say.
  const keys = taken.filter((each) => !isEventId(each) && !isSingletonScope(each.scope));
  await Promise.all([readKeyAnswers(tx, keys), readEventAnswers(tx, ids)]);
}

async function readKeyAnswers({ connection, ahead }: Transaction, keys: readonly TakenKey[]): Promise<void> {
  if (keys.length === 0) return;
  const rows = await connection.find<KeyAnswerRow>(keyAnswersSql, {
    envs: keys.map(({ env }) => env),
    holders: keys.map(({ holder }) => holder),
    keys: keys.map(({ key }) => key),
  });
  keys.forEach(({ env, holder, key }, i) => {
    const { runId, ended, firstEventId, name, data } = rows[i]!;
    ahead.answers.keys.set(answerId(env, holder, key), { runId, ended, firstEventId });
    if (firstEventId === null) return;
    const first = name === null || data === null ? undefined : { id: firstEventId, name, data };
    ahead.answers.events.set(inEnv(env, firstEventId), first);
  });
}

async function readEventAnswers({ connection, ahead }: Transaction, taken: readonly TakenKey[]): Promise<void> {
  if (taken.length === 0) return;
  const params = { envs: taken.map(({ env }) => env), ids: taken.map(({ holder }) => holder) };
  const [decisions, events] = await Promise.all([
    connection.find<EventAnswer & { readonly n: number }>(eventAnswersSql, params),
    connection.find<FirstEvent & { readonly n: number }>(firstEventsSql, params),
  ]);
  const { answers } = ahead;
  const answersOf = taken.map((): EventAnswer[] => []);
  for (const { n, fn, runId, key } of decisions) answersOf[n - 1]!.push({ fn, runId, key });
  taken.forEach(({ env, holder }, i) => {
    answers.decisions.set(inEnv(env, holder), answersOf[i]!);
    answers.events.set(inEnv(env, holder), undefined);
  });
  for (const { n, id, name, data } of events) {
    const { env, holder } = taken[n - 1]!;
    answers.events.set(inEnv(env, holder), { id, name, data });
  }
}
