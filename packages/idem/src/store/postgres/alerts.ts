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
import { alertColumns } from "./alert-reads.ts";
import { lockName } from "./lock-name.ts";
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
         judged_at = excluded.judged_at, note = excluded.note, muted_until = excluded.muted_until`;
const knownPairsSql =
  "select later_id from alert_pairs where env = ? and alert_id = ? and later_id = any(cast(? as text[]))";
// One statement for all of them: a look may bring hundreds. The guess of what the entity is may have improved since.
const writePairsSql = `
  insert into alert_pairs (env, alert_id, later_id, entity, first_id, at)
  select :env, :id, * from unnest(cast(:laters as text[]), cast(:entities as text[]), cast(:firsts as text[]),
                                  cast(:times as bigint[]))
  on conflict (env, alert_id, later_id) do update set entity = excluded.entity, first_id = excluded.first_id`;

export async function raiseAlerts(tx: Transaction, { env, alerts }: RaiseInput): Promise<Raised[]> {
  await lockName(tx, `alerts:${env}`);
  const raised: Raised[] = [];
  for (const given of alerts) raised.push(await raiseAlert(tx, env, given));
  return raised;
}

async function raiseAlert({ connection, at }: Transaction, env: string, given: NewAlert): Promise<Raised> {
  const existing = await connection.one<Alert>(findUnclosedSql, env, given.kind, given.fn, given.about);
  const id = existing?.id ?? given.id;
  // The last one said of a later id counts: one statement cannot write a row twice.
  const pairs = [...new Map(given.pairs.map((pair) => [pair.laterId, pair])).values()];
  const asked = pairs.map(({ laterId }) => laterId);
  const rows = await connection.all<{ later_id: string }>(knownPairsSql, env, id, asked);
  const known = new Set(rows.map(({ later_id }) => later_id));
  const added = pairs.length - known.size;
  let room = pairsKeptMax - (existing?.pairCount ?? 0);
  const kept = pairs.filter(({ laterId }) => known.has(laterId) || room-- > 0);
  if (kept.length > 0) {
    await connection.find(writePairsSql, {
      env,
      id,
      laters: kept.map(({ laterId }) => laterId),
      entities: kept.map(({ entity }) => entity),
      firsts: kept.map(({ firstId }) => firstId),
      times: kept.map((pair) => pair.at),
    });
  }
  const raised = joinAlert(existing, given, added, at.now);
  if (raised.alert !== existing) await connection.find(writeAlertSql, { env, ...raised.alert });
  return raised;
}

export async function judgeAlertRow(tx: Transaction, input: JudgeInput): Promise<JudgeAnswer> {
  const { env, id, verdict, note: reason, by: actor } = input;
  await lockName(tx, `alerts:${env}`);
  const { answer, write } = judgeAlert(await tx.connection.one<Alert>(findAlertSql, env, id), input, tx.at.now);
  if (!write || answer.kind === "unknown") return answer;
  await tx.connection.find(writeAlertSql, { env, ...answer.alert });
  await writeAudit(tx, env, { action: `${verdict}-alert`, subject: id, reason, actor });
  return answer;
}

const findPositionSql = "select position, version from radar_positions where env = ?";
const movePositionSql = `
  insert into radar_positions (env, position, version, moved_at) values (?, ?, ?, ?)
  on conflict (env) do update
     set position = excluded.position, version = excluded.version, moved_at = excluded.moved_at`;

export async function moveRadar(tx: Transaction, input: FollowInput): Promise<FollowAnswer> {
  const { env, position } = input;
  await lockName(tx, `radar:${env}`);
  const existing = await tx.connection.one<RadarPosition>(findPositionSql, env);
  const { answer, write } = movePosition(existing, input);
  if (write) await tx.connection.run(movePositionSql, env, position, answer.version, tx.at.now);
  return answer;
}
