// Waits until everything in a world that can go on without its clock has: turns of the machine's loop in which nothing stirs any more.
import type { Life } from "./life.ts";
import { realMonoMs, realTurn } from "./real.ts";
import type { WorldClock } from "./world-clock.ts";
import { restTurns } from "./world-script.ts";

/** Time of its own in which nothing at all happens, though something is at work. */
const hangMs = 1_500;
/** Of a turn that took longer the rest is the machine's, which had others to look after. */
const turnMsMax = 20;

export class Settling {
  isHanging = false;
  /** Time of its own. */
  spentMs = 0;
  private stirred = 0;

  constructor(
    private readonly options: {
      readonly lives: readonly Life[];
      readonly clock: WorldClock;
      /** Time of its own after which it is not waited for any longer. */
      readonly spentMsMax: number;
      /** Something that somebody waits for is under way. */
      readonly isPending: () => boolean;
      readonly onHang: () => void;
    },
  ) {}

  /** Something happened: those that wait for quiet wait on. */
  readonly stir = (): void => {
    this.stirred++;
  };

  readonly settle = async (): Promise<void> => {
    let quiet = 0;
    let seen = this.stirred;
    let quietMs = 0;
    let lastAt = realMonoMs();
    let isIdle = false;
    const ask = (): void => {
      const asked = this.stirred;
      isIdle = false;
      void Promise.all(this.going().flatMap(({ clients }) => clients.map(({ client }) => client.idle()))).then(() => {
        if (asked === this.stirred) isIdle = true;
      });
    };
    ask();
    for (;;) {
      await realTurn();
      const now = realMonoMs();
      const tookMs = Math.min(turnMsMax, now - lastAt);
      lastAt = now;
      this.spentMs += tookMs;
      quietMs += tookMs;
      if (this.stirred !== seen) {
        seen = this.stirred;
        quiet = 0;
        quietMs = 0;
        if (this.spentMs > this.options.spentMsMax) return;
        continue;
      }
      quiet++;
      if (quiet === 2) ask();
      if (quiet < restTurns.idle) continue;
      if (isIdle && !this.isWorking() && !this.options.isPending()) return;
      if (quiet < restTurns.busy) continue;
      if (this.isBlocked() && !this.isWorking()) return;
      if (quietMs > hangMs) {
        this.isHanging = true;
        this.options.onHang();
        return;
      }
    }
  };

  private going(): Life[] {
    return this.options.lives.filter(({ isDead, isFrozen }) => !isDead && !isFrozen);
  }

  /** Code of a living process is in the middle of something the machine does for it. */
  private isWorking(): boolean {
    if (this.going().some(({ underway }) => underway > 0)) return true;
    return process.getActiveResourcesInfo().some((name) => /Req|ZLIB|Zlib|PBKDF|SCRYPT|RANDOM|SIGN|HASH/.test(name));
  }

  private isBlocked(): boolean {
    const { lives, clock } = this.options;
    return lives.some((life) => !life.isDead && (life.isFrozen || clock.hasAwaited(life)));
  }
}
