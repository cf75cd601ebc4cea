// Decisions of a pass that are not yet written down: waits that begin and attempts that failed. They go with the next commit.
import type { FailedAttempt, Patch, PlannedWait } from "./ports.ts";
import { Lines } from "./run-log.ts";

export class Unsaved {
  private waits: PlannedWait[] = [];
  private attempts: FailedAttempt[] = [];
  private lines: Lines | null = null;

  addWait(wait: PlannedWait): void {
    this.waits.push(wait);
  }

  addAttempt(attempt: FailedAttempt, lines: Lines | null): void {
    this.attempts.push(attempt);
    if (lines === null || lines.isEmpty) return;
    this.lines ??= new Lines();
    this.lines.join(lines);
  }

  get hasWaits(): boolean {
    return this.waits.length > 0;
  }

  /** Everything, once; null when there is nothing. */
  take(): Pick<Patch, "waits" | "attempts" | "lines"> | null {
    if (this.waits.length === 0 && this.attempts.length === 0) return null;
    const taken = { waits: this.waits, ...this.takeAttempts() };
    this.waits = [];
    return taken;
  }

  takeAttempts(): { readonly attempts: readonly FailedAttempt[]; readonly lines?: Lines } {
    const taken = { attempts: this.attempts, ...(this.lines === null ? {} : { lines: this.lines }) };
    this.attempts = [];
    this.lines = null;
    return taken;
  }
}
