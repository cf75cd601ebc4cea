// Which schedules happened to a function, all of them, and which did not: what did not happen proves nothing. Pure but for what it keeps.
import { type CleanFacts, isInVain, nameOf, readSchedule, type Schedule, whyNotHappened } from "./schedules.ts";

/** Names that mean nothing are left out. */
export const readSchedules = (names: readonly string[]): Schedule[] =>
  names.flatMap((name) => readSchedule(name) ?? []);

export class Happened {
  private readonly whole = new Set<string>();
  /** By the schedule: what of it did not happen. */
  private readonly idle = new Map<string, string>();

  get count(): number {
    return this.whole.size;
  }

  note({ id }: Schedule, missing: string | null): void {
    if (missing === null) this.whole.add(id);
    else this.idle.set(id, missing);
  }

  /** Of those that were asked for by their names: what did not happen, and why. */
  inVain(asked: readonly string[], facts: CleanFacts): { readonly schedule: string; readonly thing: string }[] {
    return readSchedules(asked).flatMap(({ id, adversities }) => {
      if (this.whole.has(id)) return [];
      const name = this.idle.get(id) ?? (facts.hasWaits ? null : "wait-timeout");
      const adversity = adversities.find((each) => nameOf(each) === name);
      if (adversity === undefined) return [];
      return { schedule: id, thing: `${nameOf(adversity)} did not happen: ${whyNotHappened(adversity, facts)}` };
    });
  }

  /** Of what is remembered: what was played and did not happen, or means nothing any more. */
  outdated(remembered: readonly string[], facts: CleanFacts): string[] {
    return remembered.filter((name) => {
      const schedule = readSchedule(name);
      return schedule === null || this.idle.has(schedule.id) || (isInVain(schedule) && !facts.hasWaits);
    });
  }
}
