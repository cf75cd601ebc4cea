// What duplicates are answered with is read once for all of a transaction: the run that has the key, the first event and its decisions. Ahead
// of many calls it is read for all their taken keys in one round trip; what else turns up is read by the rules and kept. What the
// transaction itself stores is known without reading.
//
//   a run of the transaction ends       the answers of keys say how their runs ended: forgotten
//   an event is decided again           its answers name its runs: forgotten
//   another transaction commits either  a duplicate is told of the moment its answer was read, as if it had come then
import { isSingletonScope } from "../../flow/singleton/plan.ts";
import { type ClaimAsk, eventIdScopes } from "../../model/claim.ts";
import type { EventAnswer, FirstEvent, KeyAnswer } from "../rows.ts";
import { indexable } from "./text.ts";
import { inEnv, type Transaction } from "./transaction.ts";

export interface KeptAnswers {
  /** By `answerId`. */
  readonly keys: Map<string, KeyAnswer>;
  /** By `env id` of the first event. */
  readonly decisions: Map<string, readonly EventAnswer[]>;
  readonly events: Map<string, FirstEvent | undefined>;
}

export const answerId = (env: string, holder: string, key: string): string => inEnv(env, inEnv(holder, key));

const takenSql = `
    from unnest(cast(:envs as text[]), cast(:scopes as text[]), cast(:indexed as text[]), cast(:keys as text[])) with ordinality
      as taken (env, scope, indexed, key, n)
   cross join lateral (
      select holder from claims where env = taken.env and scope = taken.scope and key = taken.indexed limit 1) claim`;

// As `answersForKey` reads it, run by run.
const keyAnswersSql = `
  select taken.n, claim.holder, coalesce(root.newest_run_id, claim.holder) as "runId", run.ended_state as ended,
         coalesce(carried.event_id, run.event_id) as "firstEventId", first.name, first.data
  ${takenSql}
    left join lateral (select root_run_id from runs where env = taken.env and id = claim.holder limit 1) first_run on true
    left join lateral (select newest_run_id from runs where env = taken.env and id = first_run.root_run_id limit 1) root on true
    left join lateral (
      select id, event_id, ended_state, carried from runs
       where env = taken.env and id = coalesce(root.newest_run_id, claim.holder) limit 1) run on true
    left join lateral (
      select event_id from run_events
       where env = taken.env and run_id = run.id and key = taken.key and run.carried is not null limit 1) carried on true
    left join lateral (
      select name, data from events where env = taken.env and id = coalesce(carried.event_id, run.event_id) limit 1) first on true`;

// As `answersForEvent` reads it.
const eventAnswersSql = `
  select taken.n, claim.holder, decision.fn, coalesce(root.newest_run_id, decision.run_id) as "runId", decision.key
  ${takenSql}
   cross join lateral (select fn, run_id, key from decisions where env = taken.env and event_id = claim.holder offset 0) decision
    left join lateral (select root_run_id from runs where env = taken.env and id = decision.run_id limit 1) run on true
    left join lateral (select newest_run_id from runs where env = taken.env and id = run.root_run_id limit 1) root on true
   order by taken.n, decision.fn`;

const firstEventsSql = `
  select taken.n, first.id, first.name, first.data
  ${takenSql}
   cross join lateral (select id, name, data from events where env = taken.env and id = claim.holder limit 1) first`;

interface Taken {
  readonly env: string;
  /** As its request spells it. */
  readonly ask: Pick<ClaimAsk, "scope" | "key">;
}

const isEventId = ({ ask }: Taken): boolean => (eventIdScopes as readonly string[]).includes(ask.scope);

/** Reads what duplicates of these keys are answered with. What it does not find is read by the first of them that asks. */
export async function readAnswers(tx: Transaction, taken: readonly Taken[]): Promise<void> {
  const ids = taken.filter(isEventId);
  // That a singleton is taken says all there is to say.
  const keys = taken.filter((each) => !isEventId(each) && !isSingletonScope(each.ask.scope));
  await Promise.all([readKeyAnswers(tx, keys), readEventAnswers(tx, ids)]);
}

const named = (taken: readonly Taken[]) => ({
  envs: taken.map(({ env }) => env),
  scopes: taken.map(({ ask }) => ask.scope),
  indexed: taken.map(({ ask }) => indexable(ask.key)),
  keys: taken.map(({ ask }) => ask.key),
});

type KeyAnswerRow = KeyAnswer & {
  readonly n: number;
  readonly holder: string;
  readonly name: string | null;
  readonly data: string | null;
};

async function readKeyAnswers({ connection, ahead }: Transaction, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return;
  const { keys, events } = ahead.answers;
  for (const row of await connection.find<KeyAnswerRow>(keyAnswersSql, named(taken))) {
    const { n, holder, runId, ended, firstEventId, name, data } = row;
    const { env, ask } = taken[n - 1]!;
    keys.set(answerId(env, holder, ask.key), { runId, ended, firstEventId });
    if (firstEventId === null) continue;
    events.set(inEnv(env, firstEventId), name === null || data === null ? undefined : { id: firstEventId, name, data });
  }
}

async function readEventAnswers({ connection, ahead }: Transaction, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return;
  const [decisions, firsts] = await Promise.all([
    connection.find<EventAnswer & { readonly n: number; readonly holder: string }>(eventAnswersSql, named(taken)),
    connection.find<FirstEvent & { readonly n: number }>(firstEventsSql, named(taken)),
  ]);
  const { answers } = ahead;
  const of = new Map<string, EventAnswer[]>();
  for (const { n, holder, fn, runId, key } of decisions) {
    const id = inEnv(taken[n - 1]!.env, holder);
    const known = of.get(id);
    if (known === undefined) of.set(id, [{ fn, runId, key }]);
    else known.push({ fn, runId, key });
  }
  for (const [id, found] of of) answers.decisions.set(id, found);
  for (const { n, id, name, data } of firsts) {
    const first = inEnv(taken[n - 1]!.env, id);
    answers.events.set(first, { id, name, data });
    // Nothing was to be decided about it.
    if (!of.has(first)) answers.decisions.set(first, []);
  }
}
