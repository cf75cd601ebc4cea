// An app's reports to its server, counted: the answers to its calls, the steps it reports on the way, the events it sends. These are what a server commits; an
// app may die before one of them arrives, or when it was taken.
import type { Adversity, Schedule, Side } from "../schedules.ts";

export type Report = "answer" | "steps" | "event";

const words: Readonly<Record<Report, string>> = {
  answer: "its answer",
  steps: "the report of its steps",
  event: "the event it sends",
};

/** Code whose steps have other names each time is entered again for ever. */
const replaysMax = 12;

export class AppReports {
  readonly counts = { before: 0, after: 0 };
  private readonly met = new Set<Adversity>();
  private dying: { readonly report: Report; readonly start: number; readonly by: Adversity } | null = null;
  private replays = 0;

  constructor(
    private readonly options: {
      readonly schedule: Schedule;
      readonly happened: (adversity: Adversity) => void;
    },
  ) {}

  /** Why the app dies here; null where it does not. `start` counts its processes. */
  meet(report: Report, side: Side, start: number): string | null {
    const count = ++this.counts[side];
    const { schedule, happened } = this.options;
    const what = side === "before" ? `before ${words[report]} arrived` : `${words[report]} had been taken`;
    if (side === "before" && this.dying?.report === report && start > this.dying.start) {
      happened(this.dying.by);
      this.dying = null;
      return `again, ${what}`;
    }
    for (const adversity of schedule.adversities) {
      if (adversity.kind === "replay" && side === "after" && report !== "event" && this.replays++ < replaysMax) {
        happened(adversity);
        return what;
      }
      if (adversity.kind !== "die-at-commit" || adversity.side !== side || this.met.has(adversity)) continue;
      if (adversity.commit !== count) continue;
      this.met.add(adversity);
      if (adversity.times === 1) happened(adversity);
      else this.dying = { report, start, by: adversity };
      return what;
    }
    return null;
  }
}
