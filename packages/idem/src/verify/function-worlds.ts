// The worlds of one function as they are asked for: in which order, within which time, and how many of them were played.
import type { Answer } from "./playing-threads.ts";
import type { Schedule } from "./schedules.ts";
import type { VerifyFunctionOptions } from "./verify-function.ts";
import type { WorldScript } from "./worker/world-script.ts";

/** Worlds that do not answer after which no more are tried. */
const stuckMax = 2;

export interface Played {
  readonly schedule: Schedule;
  readonly answer: Answer;
}

export class FunctionWorlds {
  /** Not played, because the budget was spent. */
  unplayed = 0;
  /** When it is spent; null where it is not for every world. */
  until: number | null = null;
  private played = 0;
  private known = 0;
  private stuck = 0;

  constructor(private readonly options: Pick<VerifyFunctionOptions, "threads" | "platform" | "onPlayed">) {}

  /** Null once worlds do not answer any more. */
  async play(
    script: Omit<WorldScript, "startMs">,
    world: { readonly schedule: Schedule; readonly startMs: number; readonly seed: number; readonly isShown?: boolean },
  ): Promise<Answer | null> {
    if (this.stuck >= stuckMax) return null;
    const { schedule, startMs, seed, isShown = false } = world;
    const message = { kind: "play", script: { ...script, startMs }, schedule: schedule.id, seed, isShown } as const;
    const answer = await this.options.threads.ask(message);
    if (answer.kind === "stuck") this.stuck++;
    this.played++;
    this.options.onPlayed?.(schedule.id, this.played, this.known);
    return answer;
  }

  /** All of them, each handed to `weigh` in their order. */
  async playAll(
    schedules: readonly Schedule[],
    play: (schedule: Schedule) => Promise<Answer | null>,
    weigh: (played: Played) => Promise<void>,
  ): Promise<void> {
    this.known += schedules.length;
    if (this.until !== null) return this.playWithin(this.until, schedules, play, weigh);
    const all = schedules.map(async (schedule): Promise<Played | null> => {
      const answer = await play(schedule);
      return answer === null ? null : { schedule, answer };
    });
    // Those that are not waited for yet may fail, too.
    void Promise.allSettled(all);
    // In their order, whichever thread was first: the same report each time. Finished worlds are weighed while others are played.
    for (const one of all) {
      const played = await one;
      if (played !== null) await weigh(played);
    }
  }

  /** One after the other, for as long as there is time. */
  private async playWithin(
    until: number,
    schedules: readonly Schedule[],
    play: (schedule: Schedule) => Promise<Answer | null>,
    weigh: (played: Played) => Promise<void>,
  ): Promise<void> {
    for (const schedule of schedules) {
      const answer = this.options.platform.monoMs() < until ? await play(schedule) : null;
      if (answer === null) this.unplayed++;
      else await weigh({ schedule, answer });
    }
  }
}
