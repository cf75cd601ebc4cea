// Whether the steps a run waits for side by side must all be over before its code is asked again, or any one of them will do.
// Only the app's answer says so. What was forgotten (another process, a crash, too many runs) costs one more call, never a step.

// A few bytes each; a run that sleeps for a month must not be remembered by force.
const keptMax = 20_000;

export type Siblings = "all" | "any";

export class SiblingPlans {
  private readonly kept = new Map<string, Siblings>();

  of(runId: string): Siblings | null {
    return this.kept.get(runId) ?? null;
  }

  note(runId: string, siblings: Siblings): void {
    this.kept.delete(runId);
    this.kept.set(runId, siblings);
    if (this.kept.size <= keptMax) return;
    for (const oldest of this.kept.keys()) {
      this.kept.delete(oldest);
      return;
    }
  }

  forget(runId: string): void {
    this.kept.delete(runId);
  }
}
