// Alerts: pairs join, people judge, the radar's position moves on.
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
import { alertColumns } from "./alert-reads.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

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
         judged_at = excluded.judged_at, note = excluded.note, muted_until = excluded.muted_until
  returning id`;
const knownPairSql = "select 1 as known from alert_pairs where env = ? and alert_id = ? and later_id = ?";
// The guess of what the entity is may have improved since.
const writePairSql = `
  insert into alert_pairs (env, alert_id, later_id, entity, first_id, at) values (?, ?, ?, ?, ?, ?)
  on conflict (env, alert_id, later_id) do update set entity = excluded.entity, first_id = excluded.first_id`;

export const raiseAlerts = (tx: Transaction, { env, alerts }: RaiseInput): Raised[] =>
  alerts.map((given) => raiseAlert(tx, env, given));

function raiseAlert(tx: Transaction, env: string, given: NewAlert): Raised {
  const { connection, at } = tx;
  const existing = connection.one<Alert>(findUnclosedSql, env, given.kind, given.fn, given.about);
  const id = existing?.id ?? given.id;
  const before = existing?.pairCount ?? 0;
  let added = 0;
  for (const { laterId, entity, firstId, at: pairedAt } of given.pairs) {
    const isKnown = connection.one(knownPairSql, env, id, laterId) !== undefined;
    if (!isKnown) added += 1;
    if (isKnown || before + added <= pairsKeptMax) {
      connection.run(writePairSql, env, id, laterId, entity, firstId, pairedAt);
    }
  }
  const raised = joinAlert(existing, given, added, at.now);
  if (raised.alert !== existing) connection.find(writeAlertSql, { env, ...raised.alert });
  return raised;
}

export function judgeAlertRow(tx: Transaction, input: JudgeInput): JudgeAnswer {
  const { env, id, verdict, note: reason, by: actor } = input;
  const { answer, write } = judgeAlert(tx.connection.one<Alert>(findAlertSql, env, id), input, tx.at.now);
  if (!write || answer.kind === "unknown") return answer;
  tx.connection.find(writeAlertSql, { env, ...answer.alert });
  writeAudit(tx, env, { action: `${verdict}-alert`, subject: id, reason, actor });
  return answer;
}

const findPositionSql = "select position, version from radar_positions where env = ?";
const movePositionSql = `
  insert into radar_positions (env, position, version, moved_at) values (?, ?, ?, ?)
  on conflict (env) do update
     set position = excluded.position, version = excluded.version, moved_at = excluded.moved_at`;

export function moveRadar(tx: Transaction, input: FollowInput): FollowAnswer {
  const { env, position } = input;
  const { answer, write } = movePosition(tx.connection.one<RadarPosition>(findPositionSql, env), input);
  if (write) tx.connection.run(movePositionSql, env, position, answer.version, tx.at.now);
  return answer;
}
