// The options of a pass.
import type { Divergence, OnDiverged } from "../model/divergence.ts";
import type { IdemError } from "../model/errors.ts";
import type { OpIds, Ran } from "./operation.ts";
import type { Backoff } from "./retry.ts";
import type { Slots } from "./slots.ts";

/** The settings of its run and its function, and the calls for what a pass cannot decide. */
export interface PassOptions {
  readonly attemptsMax: number;
  /** Earlier entries into the code, in a row, without an outcome. */
  readonly lostWorkers: number;
  readonly backoff: Backoff | null;
  /** Not later than this the run is looked at again. */
  readonly deadlineAt: number | null;
  /** If a limit counts runs at work, the steps of a run stand in line here; if it counts steps, they do for slots of the store. */
  readonly slots: Slots | null;
  /** The longest an attempt may take of a step without a limit of its own. */
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
  /** The run is to go no further: two of its steps claim one id, or it is unknown which of them a record is. */
  conflict(error: IdemError): void;
  /** Logs for people what no code hears of. */
  warn(message: string): void;
}
