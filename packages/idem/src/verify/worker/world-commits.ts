// The commits of one world: counted, and where its schedule says so, a process dies around them.
import type { CrashPoint } from "../../platform/platform.ts";
import type { Adversity, Schedule } from "../schedules.ts";
import type { Life } from "./life.ts";

/** Code whose steps have other names each time is entered again for ever. */
const replaysMax = 12;

export class WorldCommits {
  readonly counts = { before: 0, after: 0 };
  /** Those before which the function's code ran. */
  readonly ofCode: number[] = [];
  /** The process that takes over dies before this, too. */
  private dying: { readonly at: CrashPoint; readonly life: number; readonly by: Adversity } | null = null;
  private readonly met = new Set<Adversity>();
  private replays = 0;

  constructor(
    private readonly options: {
      readonly schedule: Schedule;
      readonly kill: (life: Life, why: string) => void;
      readonly happened: (adversity: Adversity) => void;
    },
  ) {}

  meet(life: Life, name: CrashPoint): void {
    const side = name.endsWith(":before-commit") ? "before" : name.endsWith(":after-commit") ? "after" : null;
    // A lease or a rescue changes nothing that a death around it could lose.
    if (side === null || name.startsWith("lease:") || name.startsWith("rescue:")) return;
    const { schedule, kill, happened } = this.options;
    const count = ++this.counts[side];
    if (side === "before" && /^(step|suspend|finish):/.test(name)) this.ofCode.push(count);
    const { dying } = this;
    if (dying?.at === name && life.index > dying.life) {
      this.dying = null;
      this.met.add(dying.by);
      happened(dying.by);
      kill(life, `again, before the commit of ${name.split(":")[0]!}`);
    }
    for (const adversity of schedule.adversities) {
      if (adversity.kind === "replay" && name === "step:after-commit" && this.replays++ < replaysMax) {
        happened(adversity);
        kill(life, "a step was recorded, nothing after it");
      }
      if (adversity.kind !== "die-at-commit" || adversity.side !== side || this.met.has(adversity)) continue;
      if (adversity.commit !== count) continue;
      if (adversity.times === 1) {
        this.met.add(adversity);
        happened(adversity);
      } else this.dying = { at: name, life: life.index, by: adversity };
      kill(life, `${side} the commit of ${name.split(":")[0]!}`);
    }
  }
}
