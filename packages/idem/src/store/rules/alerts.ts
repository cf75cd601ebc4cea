// Alerts: pairs join, people judge, the radar's position moves on. An alert that is not there yet cannot be locked, so raising and
// judging take turns in an environment; both are rare.
import {
  type Alert,
  type FollowAnswer,
  type FollowInput,
  type JudgeAnswer,
  type JudgeInput,
  joinAlert,
  judgeAlert,
  movePosition,
  type NewAlert,
  pairsKeptMax,
  type RadarPosition,
  type Raised,
  type RaiseInput,
} from "../alerts.ts";
import type { PruneCounts } from "../prune.ts";
import { alertColumns } from "../rows.ts";
import type { Database, RuleTransaction } from "./database.ts";
import { insertion } from "./insertion.ts";
import type { Rule } from "./rule.ts";

const findUnclosedSql = `
  select ${alertColumns} from alerts where env = ? and kind = ? and fn = ? and about = ? and state <> 'closed'`;
const findAlertSql = `select ${alertColumns} from alerts where env = ? and id = ?`;
const writeAlertSql = `
  insert into alerts (env, id, kind, fn, about, subject, state, first_at, last_at, pair_count, facts, judged_by, judged_at, note,
                      muted_until)
  values (:env, :id, :kind, :fn, :about, :subject, :state, :firstAt, :lastAt, :pairCount, :facts, :judgedBy, :judgedAt, :note,
          :mutedUntil)
  on conflict (env, id) do update
     set subject = excluded.subject, state = excluded.state, first_at = excluded.first_at, last_at = excluded.last_at,
         pair_count = excluded.pair_count, facts = excluded.facts, judged_by = excluded.judged_by,
         judged_at = excluded.judged_at, note = excluded.note, muted_until = excluded.muted_until`;
// A look may bring hundreds. The guess of what the entity is may have improved since.
const pairs = insertion(
  "alert_pairs",
  { env: "text", alert_id: "text", later_id: "text", entity: "text", first_id: "text", at: "bigint" },
  "on conflict (env, alert_id, later_id) do update set entity = excluded.entity, first_id = excluded.first_id",
);
const findPositionSql = "select position, version from radar_positions where env = ?";
const movePositionSql = `
  insert into radar_positions (env, position, version, moved_at) values (?, ?, ?, ?)
  on conflict (env) do update
     set position = excluded.position, version = excluded.version, moved_at = excluded.moved_at`;

const alertsTurn = (env: string): string => `alerts:${env}`;

export function* raiseAlerts(tx: RuleTransaction, { env, alerts }: RaiseInput): Rule<Raised[]> {
  yield* tx.turn(alertsTurn(env));
  const raised: Raised[] = [];
  for (const given of alerts) raised.push(yield* raiseAlert(tx, env, given));
  return raised;
}

function* raiseAlert(tx: RuleTransaction, env: string, given: NewAlert): Rule<Raised> {
  const existing = yield* tx.one<Alert>(findUnclosedSql, env, given.kind, given.fn, given.about);
  const id = existing?.id ?? given.id;
  // The last one said of a later id counts: one statement cannot write a row twice.
  const said = [...new Map(given.pairs.map((pair) => [pair.laterId, pair])).values()];
  const asked = tx.list(said.map(({ laterId }) => laterId));
  const rows = yield* tx.all<{ later_id: string }>(tx.sql.alerts.knownPairs, env, id, asked);
  const known = new Set(rows.map(({ later_id }) => later_id));
  let room = pairsKeptMax - (existing?.pairCount ?? 0);
  for (const { laterId, entity, firstId, at } of said) {
    if (known.has(laterId) || room-- > 0) tx.add(pairs, env, id, laterId, entity, firstId, at);
  }
  const raised = joinAlert(existing, given, said.length - known.size, tx.at.now);
  if (raised.alert !== existing) yield* tx.find(writeAlertSql, { env, ...raised.alert });
  return raised;
}

export function* judgeAlertRow(tx: RuleTransaction, input: JudgeInput): Rule<JudgeAnswer> {
  const { env, id, verdict, note: reason, by: actor } = input;
  yield* tx.turn(alertsTurn(env));
  const { answer, write } = judgeAlert(yield* tx.one<Alert>(findAlertSql, env, id), input, tx.at.now);
  if (!write || answer.kind === "unknown") return answer;
  yield* tx.find(writeAlertSql, { env, ...answer.alert });
  tx.audit(env, { action: `${verdict}-alert`, subject: id, reason, actor });
  return answer;
}

export function* moveRadar(tx: RuleTransaction, input: FollowInput): Rule<FollowAnswer> {
  const { env, position } = input;
  yield* tx.turn(`radar:${env}`);
  const { answer, write } = movePosition(yield* tx.one<RadarPosition>(findPositionSql, env), input);
  if (write) tx.write(movePositionSql, env, position, answer.version, tx.at.now);
  return answer;
}

// ------------------------------------------------------------------------------------------------ what nobody will look for again

// Nobody writes to a closed alert, so nothing is locked: of two who prune, the second finds less.
const isOld = "a.env = :env and a.state = 'closed' and a.last_at < :before and coalesce(a.judged_at, 0) < :before";
// A handful of alerts in a commit; what is left is the next call's.
const oldSql = `select a.id from alerts a where ${isOld} order by a.id limit 20`;
const countOldSql = `
  select count(*) as alerts,
         cast(coalesce(sum((select count(*) from alert_pairs p where p.env = a.env and p.alert_id = a.id)), 0) as bigint) as pairs
    from alerts a where ${isOld}`;
const deleteAlertSql = "delete from alerts where env = ? and id = ?";

type Told = Pick<PruneCounts, "alerts" | "pairs">;

/** Pairs go first; the alert goes with its last ones. */
export function* pruneAlerts(db: Database, env: string, before: number, max: number): Rule<Told> {
  const deleted = { alerts: 0, pairs: 0 };
  for (const { id } of yield* db.find<{ id: string }>(oldSql, { env, before })) {
    const left = max - deleted.alerts - deleted.pairs;
    const gone = yield* db.run(db.sql.alerts.deletePairs, env, id, env, id, left);
    deleted.pairs += gone;
    // There may be more of them, and there is no room for the alert itself.
    if (gone === left) return deleted;
    deleted.alerts += yield* db.run(deleteAlertSql, env, id);
  }
  return deleted;
}

export function* countAlerts(db: Database, env: string, before: number): Rule<Told> {
  return (yield* db.find<Told>(countOldSql, { env, before }))[0]!;
}
