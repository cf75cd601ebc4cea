// POST /api/radar/alerts/:alert/acknowledge, /mute, /close: a person says what is to be thought of it.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { parseDuration } from "../../../model/duration.ts";
import { errors } from "../../../model/errors.ts";
import type { JudgeInput } from "../../../store/alerts.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";
import { alertItem, alertItemOf } from "../../radar/alert-shape.ts";

const tag = "radar";
const reason = reasonField.describe("Why; kept with the alert and in the audit");
const answer = z.object({ alert: alertItem });

async function judge(engine: Engine, input: JudgeInput): Promise<z.input<typeof answer>> {
  const judged = await engine.store.judge(input);
  if (judged.kind === "unknown") throw errors.ALERT_UNKNOWN({ alert: input.id });
  if (judged.kind === "closed") throw errors.ALERT_CLOSED({ alert: input.id });
  return { alert: alertItemOf(judged.alert, engine.registry.fullName(judged.alert.fn)) };
}

export const acknowledgeAlert = apiRoute({
  method: "POST",
  path: "/api/radar/alerts/:alert/acknowledge",
  summary: "Acknowledge an alert: somebody knows; more pairs still join it",
  tag,
  body: { reason },
  answer,
  handle: ({ params, body, engine, env, actor }) =>
    judge(engine, { env, id: params.alert!, verdict: "acknowledge", until: null, by: actor.name, note: body.reason }),
});

export const muteAlert = apiRoute({
  method: "POST",
  path: "/api/radar/alerts/:alert/mute",
  summary: "Mute an alert: pairs are counted and nobody is told, until a time or for good",
  tag,
  body: { reason, for: z.string().min(1).max(32).optional().describe('How long: "7d"; for good unless given') },
  answer,
  handle: ({ params, body, engine, env, actor, now }) => {
    const until = body.for === undefined ? null : now + parseDuration(body.for, "for");
    return judge(engine, { env, id: params.alert!, verdict: "mute", until, by: actor.name, note: body.reason });
  },
});

export const closeAlert = apiRoute({
  method: "POST",
  path: "/api/radar/alerts/:alert/close",
  summary: "Close an alert: the next pair opens another",
  tag,
  body: { reason },
  answer,
  handle: ({ params, body, engine, env, actor }) =>
    judge(engine, { env, id: params.alert!, verdict: "close", until: null, by: actor.name, note: body.reason }),
});
