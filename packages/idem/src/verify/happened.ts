// The schedules that happened whole to a function, and those that did not, which prove nothing. Pure but for what it keeps.
import { type CleanFacts, isInVain, nameOf, readSchedule, type Schedule, whyNotHappened } from "./schedules.ts";

/** Names that mean nothing are left out. */
export const readSchedules = (names: readonly string[]): Schedule[] =>
  names.flatMap((name) => readSchedule(name) ?? []);

export class Happened {
  private readonly whole = new Set<string>();
  /** The part that did not happen, by schedule. */
  private readonly idle = new Map<string, string>();

  get count(): number {
    return this.whole.size;
  }

  note({ id }: Schedule, missing: string | null): void {
    if (missing === null) this.whole.add(id);
    else this.idle.set(id, missing);
  }

  /** Those that were asked for by name and did not happen, and why. */
  inVain(asked: readonly string[], facts: CleanFacts): { readonly schedule: string; readonly thing: string }[] {
    return readSchedules(asked).flatMap(({ id, adversities }) => {
      if (this.whole.has(id)) return [];
      const name = this.idle.get(id) ?? (facts.hasWaits ? null : "wait-timeout");
      const adversity = adversities.find((each) => nameOf(each) === name);
      if (adversity === undefined) return [];
      return { schedule: id, thing: `${nameOf(adversity)} did not happen: ${whyNotHappened(adversity, facts)}` };
    });
  }

  /** Remembered ones that were played and did not happen, or mean nothing any more. */
  outdated(remembered: readonly string[], facts: CleanFacts): string[] {
    return remembered.filter((name) => {
      const schedule = readSchedule(name);
      return schedule === null || this.idle.has(schedule.id) || (isInVain(schedule) && !facts.hasWaits);
    });
  }
}
