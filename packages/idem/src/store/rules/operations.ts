// The operations that are rules: the same on both databases.
import type { StoreWrites } from "../store.ts";
import { judgeAlertRow, moveRadar, raiseAlerts } from "./alerts.ts";
import { annotateRun } from "./annotate-run.ts";
import { cancelRun } from "./cancel-run.ts";
import { changeSettingRow } from "./change-setting.ts";
import { countDecisions } from "./count-decisions.ts";
import type { RuleTransaction } from "./database.ts";
import { ingestEvents } from "./ingest-events.ts";
import { publishMessages } from "./publish-messages.ts";
import { keepAudit } from "./read-audit.ts";
import { redecideEvent } from "./redecide-event.ts";
import { pauseFunction, registerFunctions } from "./register-functions.ts";
import { rerunRun } from "./rerun-run.ts";
import { resumeSignal, resumeWaits } from "./resume-waits.ts";
import type { Rule } from "./rule.ts";
import { amendClaimRow, extendClaim, releaseClaim, settleClaim, takeClaim } from "./settle-claim.ts";
import { tickCrons } from "./tick-crons.ts";
import { unparkRun } from "./unpark-run.ts";

type Ruled = {
  [K in keyof StoreWrites]?: (
    tx: RuleTransaction,
    ...input: Parameters<StoreWrites[K]>
  ) => Rule<Awaited<ReturnType<StoreWrites[K]>>>;
};

export const ruledOperations = {
  ingest: ingestEvents,
  register: registerFunctions,
  pause: pauseFunction,
  redecide: redecideEvent,
  tick: tickCrons,
  resume: resumeWaits,
  signal: resumeSignal,
  cancel: cancelRun,
  rerun: rerunRun,
  unpark: unparkRun,
  annotate: annotateRun,
  publish: publishMessages,
  claim: takeClaim,
  extend: extendClaim,
  amend: amendClaimRow,
  settle: settleClaim,
  release: releaseClaim,
  set: changeSettingRow,
  count: countDecisions,
  raise: raiseAlerts,
  judge: judgeAlertRow,
  follow: moveRadar,
  audit: keepAudit,
} satisfies Ruled;

type AnyRule = (tx: RuleTransaction, ...input: readonly unknown[]) => Rule<unknown>;

/** Each as the call that its database makes of it. */
export const ruledCalls = (
  drive: (rule: Rule<unknown>) => unknown,
): Record<keyof typeof ruledOperations, (tx: RuleTransaction, ...input: readonly unknown[]) => unknown> => {
  const called =
    (rule: AnyRule) =>
    (tx: RuleTransaction, ...input: readonly unknown[]) =>
      drive(rule(tx, ...input));
  const calls = Object.entries(ruledOperations).map(([name, rule]) => [name, called(rule as unknown as AnyRule)]);
  return Object.fromEntries(calls) as ReturnType<typeof ruledCalls>;
};
