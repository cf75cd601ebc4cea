// An operation: one call of a step tool in one pass over a function's code.
import type { AsyncResource } from "node:async_hooks";
import type { StepKind } from "../model/step.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { TransactionClient } from "../store/transactional.ts";
import type { AttemptTrace, PlannedWait } from "./ports.ts";
import type { StepBody } from "./step-body.ts";
import type { StepLimit } from "./step-limit.ts";
import type { StepAnswer } from "./step-promise.ts";

export interface OpIds {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
}

/** The facts of an attempt. `within` is to be put around the part that the step's time limit counts. */
export interface AttemptFacts extends StepLimit {
  readonly attempt: number;
  /** Entries into it in a row, this one included: more than one where a process was lost in the middle of it. */
  readonly entered: number;
  readonly body: StepBody;
  /** Null where nobody listens. */
  readonly trace: AttemptTrace | null;
}

/** Of a step that runs code; absent or null for the function's own limit. */
export interface Limited {
  readonly limitMs?: number | null;
}

/** The work of an operation that was found and has no outcome yet. */
export type Work =
  | { readonly kind: "wait"; readonly plan: () => PlannedWait }
  /** Runs code; the value it gives back is already JSON text. Events it sends are committed together with it. */
  | ({
      readonly kind: "attempt";
      readonly run: (facts: AttemptFacts) => Ran | Promise<Ran>;
      /** Makes of the kept value the one that the code receives; the same by default. */
      readonly read?: (value: unknown) => unknown;
      /** Its input, as it is kept; asked once an attempt is over. Absent for none. */
      readonly input?: () => string | null;
      /** Its code runs in another process, which is called for it: that is where its spans are made. */
      readonly isElsewhere?: boolean;
      /** When it began, where it had begun before it came here; asked once an attempt is over. */
      readonly began?: () => number | null;
    } & Limited)
  /** The same inside a transaction, by which the value is recorded. */
  | ({
      readonly kind: "transaction";
      readonly run: (facts: AttemptFacts, tx: TransactionClient) => Promise<Ran>;
    } & Limited);

export interface Ran {
  readonly json: string;
  readonly sends?: readonly NewEvent[];
  /** The step is recorded already, and the code has heard of it. */
  readonly isRecorded?: true;
}

export interface Op extends OpIds {
  readonly kind: StepKind;
  /** Of a renamed step: the id it would have by itself. */
  readonly own: string | undefined;
  /** As the code asks for it. */
  readonly step: string;
  readonly work: Work;
  readonly answer: StepAnswer;
  /** Its last attempt failed; the next may not start before this time. */
  blockedUntil: number | null;
  /** The async context of the code that asked for it, where an attempt does not begin in the same turn. */
  context: AsyncResource | null;
}
