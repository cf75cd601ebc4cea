// What a pass has decided and not yet written down: waits that begin and attempts that failed. They go with the next commit.
import type { FailedAttempt, Patch, PlannedWait } from "./ports.ts";

export class Unsaved {
  private waits: PlannedWait[] = [];
  private attempts: FailedAttempt[] = [];

  addWait(wait: PlannedWait): void {
    this.waits.push(wait);
  }

  addAttempt(attempt: FailedAttempt): void {
    this.attempts.push(attempt);
  }

  get hasWaits(): boolean {
    return this.waits.length > 0;
  }

  /** Everything, once; null when there is nothing. */
  take(): Pick<Patch, "waits" | "attempts"> | null {
    if (this.waits.length === 0 && this.attempts.length === 0) return null;
    const taken = { waits: this.waits, attempts: this.attempts };
    this.waits = [];
    this.attempts = [];
    return taken;
  }

  takeAttempts(): FailedAttempt[] {
    const taken = this.attempts;
    this.attempts = [];
    return taken;
  }
}
