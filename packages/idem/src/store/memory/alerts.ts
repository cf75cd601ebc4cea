// Alerts: pairs join, people judge, the radar's position moves on.
import {
  type FollowAnswer,
  type FollowInput,
  type JudgeAnswer,
  type JudgeInput,
  joinAlert,
  judgeAlert,
  movePosition,
  pairsKeptMax,
  type Raised,
  type RaiseInput,
} from "../alerts.ts";
import type { Moment, Tables } from "./tables.ts";

export function raiseAlerts(tables: Tables, at: Moment, { alerts }: RaiseInput): Raised[] {
  return alerts.map((given) => {
    const existing = tables.alerts
      .all()
      .find(
        ({ kind, fn, about, state }) =>
          state !== "closed" && kind === given.kind && fn === given.fn && about === given.about,
      );
    const id = existing?.id ?? given.id;
    const before = existing?.pairCount ?? 0;
    let added = 0;
    for (const pair of given.pairs) {
      const place = JSON.stringify([id, pair.laterId]);
      const isKnown = tables.alertPairs.has(place);
      if (!isKnown) added += 1;
      if (isKnown || before + added <= pairsKeptMax) tables.alertPairs.put(place, { ...pair, alertId: id });
    }
    const raised = joinAlert(existing, given, added, at.now);
    if (raised.alert !== existing) tables.alerts.put(id, raised.alert);
    return raised;
  });
}

export function judgeAlertRow(tables: Tables, at: Moment, input: JudgeInput): JudgeAnswer {
  const { answer, write } = judgeAlert(tables.alerts.get(input.id), input, at.now);
  if (!write || answer.kind === "unknown") return answer;
  tables.alerts.put(input.id, answer.alert);
  const { verdict, id: subject, note: reason, by: actor } = input;
  tables.addAudit(at, { action: `${verdict}-alert`, subject, reason, actor });
  return answer;
}

const only = "";

export function moveRadar(tables: Tables, input: FollowInput): FollowAnswer {
  const { answer, write } = movePosition(tables.radarPosition.get(only), input);
  if (write) tables.radarPosition.put(only, { position: input.position, version: answer.version });
  return answer;
}
