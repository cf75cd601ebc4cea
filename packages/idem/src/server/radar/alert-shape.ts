// Alerts and rules as /api shows them.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { type AlertFacts, wordsOf } from "../../radar/found-alert.ts";
import type { RadarRule } from "../../radar/rules.ts";
import { type PairOf, verifyPair } from "../../radar/verify-pair.ts";
import { type Alert, type AlertPair, alertStates } from "../../store/alerts.ts";

const instantField = z.number().int();

export const alertItem = z.object({
  id: z.string(),
  kind: z
    .string()
    .describe(
      "`doubled-runs`, `maybe-doubled`, `key-ran-again`, `key-missing`, `key-too-broad`, `id-too-broad`, `id-under-two-names`, `equal-events`, `doubled-deliveries`, `diverged`, `store-rollback` or `rule`",
    ),
  function: z.string().nullable().describe("Null where it is about events"),
  subject: z.string().describe("The expression or field it is about; for `doubled-runs` our best guess so far"),
  state: z.enum(alertStates),
  title: z.string(),
  next: z.string().describe("What to do about it"),
  line: z.string().nullable().describe("To be pasted into the function's options; null where a line does not mend it"),
  firstAt: instantField,
  lastAt: instantField,
  pairCount: z.number().int(),
  of: z.enum(["run", "event"]).describe("What the ids of its pairs are ids of"),
  differs: z.array(z.string()).describe("Paths at which what was taken for the same differed"),
  judgedBy: z.string().nullable(),
  judgedAt: instantField.nullable(),
  note: z.string().nullable().describe("Why it was judged so"),
  mutedUntil: instantField.nullable(),
});

export const pairItem = z.object({
  entity: z.string().describe("JSON of the value both have"),
  firstId: z.string().nullable(),
  laterId: z.string(),
  at: instantField,
  verify: z
    .string()
    .nullable()
    .describe(
      "The command that plays these two events again, in worlds of its own; null where no two events did one thing twice",
    ),
});

/** `name` is how people call its function. */
export function alertItemOf(alert: Alert, name: string): z.input<typeof alertItem> {
  const { fn, about: _, facts: text, ...rest } = alert;
  const facts = JSON.parse(text) as AlertFacts;
  return {
    ...rest,
    ...wordsOf({ ...alert, facts }, name),
    function: fn === "" ? null : fn,
    of: facts.of,
    differs: [...(facts.differs ?? [])],
  };
}

export const pairItemOf = (alert: Alert, pair: AlertPair, of: PairOf): z.input<typeof pairItem> => ({
  ...pair,
  verify: verifyPair(alert, pair, of),
});

export async function findAlert(engine: Engine, env: string, id: string): Promise<Alert> {
  const alert = await engine.store.reads.alert(env, id);
  if (alert === null) throw errors.ALERT_UNKNOWN({ alert: id });
  return alert;
}

export const ruleItem = z.object({
  name: z.string(),
  more: z.number().int().describe("Alert when there are more than this many"),
  what: z.enum(["runs", "events", "effects"]),
  of: z
    .string()
    .describe(
      "`best-guess` (the default rule), `key`, a field such as `event.data.placementId`, or `entity` of effects",
    ),
  withinMs: z.number().int(),
  function: z.string().nullable().describe("Null for every one"),
  muted: z.boolean(),
});

export const ruleItemOf = ({ name, more, what, of, withinMs, fn, isMuted }: RadarRule): z.input<typeof ruleItem> => ({
  name,
  more,
  what,
  of,
  withinMs,
  function: fn,
  muted: isMuted,
});
