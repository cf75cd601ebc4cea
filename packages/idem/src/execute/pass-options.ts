// What a pass is told when it begins.
import type { Divergence, OnDiverged } from "../model/divergence.ts";
import type { IdemError } from "../model/errors.ts";
import type { OpIds, Ran } from "./operation.ts";
import type { Backoff } from "./retry.ts";
import type { Slots } from "./slots.ts";

/** What its run, and its function, say of a pass; and who hears what it cannot decide. */
export interface PassOptions {
  readonly attemptsMax: number;
  /** How often the code was entered before, in a row, without an outcome. */
  readonly lostWorkers: number;
  readonly backoff: Backoff | null;
  /** Not later than this the run is looked at again. */
  readonly deadlineAt: number | null;
  /** Where a limit counts what runs at once, the steps of a run stand in line; where it counts steps, for slots of the store. */
  readonly slots: Slots | null;
  /** How long an attempt of a step may take that says nothing of it. */
  readonly stepTimeoutMs: number | null;
  readonly divergence: {
    readonly policy: OnDiverged;
    /** Whether code in this process is watched; code elsewhere is not seen asking. */
    readonly isWatched: boolean;
    readonly hasTimes: boolean;
  };
  /** Middleware; null for none. */
  readonly around: ((op: OpIds & { attempt: number }, run: () => Promise<Ran>) => Promise<Ran>) | null;
  /** The run is to go no further, as its function says. */
  diverged(found: readonly Divergence[]): void;
  /** The run is to go no further: two of its steps claim one id, or nobody knows which of them a record is. */
  conflict(error: IdemError): void;
  /** Tells a person what no code hears of. */
  warn(message: string): void;
}
