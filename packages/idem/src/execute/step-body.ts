// Whether code is inside the body of a step, by its async context: a helper, a Promise.all or a timer the body began are inside it, whatever
// they close over; a step started beside it is not.
//
// A step in there would be recorded before the one around it. Stopped between the two, the body is entered again; once the body has an
// outcome, no replay comes to the inner step. So it is refused. The step around it fails also if it caught the refusal or did not wait
// for it: otherwise it would depend on the body whether the refusal is noticed.
import { AsyncLocalStorage } from "node:async_hooks";
import { errors, type IdemError } from "../model/errors.ts";
import type { LogLevel } from "../model/log-line.ts";

/** The lines the body wrote, until its attempt is over. */
export interface StepLines {
  add(level: LogLevel, args: readonly unknown[]): void;
}

const entered = new AsyncLocalStorage<StepBody>();

export class StepBody {
  isOver = false;
  private refused: IdemError | null = null;

  constructor(
    /** Whose step it is: an event sent by a body may start another run inside its context. */
    private readonly pass: object,
    readonly step: string,
    /** Null where lines are not kept. */
    readonly lines: StepLines | null = null,
  ) {}

  /** The innermost body of this pass that the caller is inside of. */
  static around(pass: object): StepBody | null {
    const body = entered.getStore();
    return body?.pass === pass ? body : null;
  }

  /** For tools that watch bodies: the innermost one around the caller, of whatever run. */
  static current(): { readonly step: string; readonly isOver: boolean } | null {
    return entered.getStore() ?? null;
  }

  /** Its caller sets `isOver`. */
  run<T, Given>(body: (given: Given) => T, given: Given): T {
    return entered.run(this, body, given);
  }

  /** Refuses a step that was started in here; once the body is over, only the log says so. */
  refuse(step: string, teller: { warn(message: string): void }): IdemError {
    const error = errors.STEP_NESTED({ step, outer: this.step, isOver: this.isOver });
    if (this.isOver) teller.warn(error.message);
    this.refused ??= error;
    return error;
  }

  /** Before anything of the body is kept. */
  throwIfNested(): void {
    if (this.refused !== null) throw this.refused;
  }
}
