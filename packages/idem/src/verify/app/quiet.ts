// Waits until everything in an app's world that can go on without its clock has. An app is another process: it is asked for what it has under way, and
// otherwise given a moment.
import type { Platform } from "../../platform/platform.ts";

/** Without a sign of life, after which nothing is expected of a world that has nothing under way. */
const restMs = { idle: 8, blocked: 60, end: 40 } as const;
/** The same, though something is under way. */
const hangMs = 10_000;
/** Between two looks at what is under way then. */
const busyMs = 60;
const lookMs = 1;

export class Quiet {
  isHanging = false;
  private stirredAt: number;

  constructor(
    private readonly options: {
      readonly platform: Pick<Platform, "monoMs" | "timer">;
      /** Resolves once the engine has nothing to do; it may be waiting for the clock. */
      readonly engineIdle: () => Promise<void>;
      /** Something is under way in the app, or on its way to or from it. */
      readonly isWorking: () => boolean;
      /** Something is under way, and nothing has happened for this long. */
      readonly onBusy: (quietMs: number) => Promise<void>;
      readonly onHang: () => void;
    },
  ) {
    this.stirredAt = options.platform.monoMs();
  }

  readonly stir = (): void => {
    this.stirredAt = this.options.platform.monoMs();
  };

  readonly settle = (): Promise<void> => this.rest(restMs.idle);

  /** Before a world is looked at: for what nobody waits for. */
  readonly linger = (): Promise<void> => this.rest(restMs.end);

  private async rest(idleMs: number): Promise<void> {
    const { platform, engineIdle, isWorking, onBusy, onHang } = this.options;
    this.stir();
    let isIdle = false;
    let askedAt = -1;
    let lookedAt = platform.monoMs();
    for (;;) {
      if (askedAt !== this.stirredAt) {
        const asked = this.stirredAt;
        askedAt = asked;
        isIdle = false;
        void engineIdle().then(() => {
          if (asked === this.stirredAt) isIdle = true;
        });
      }
      await new Promise<void>((resolve) => void platform.timer(lookMs, resolve));
      const quietMs = platform.monoMs() - this.stirredAt;
      if (isWorking()) {
        if (quietMs >= busyMs && platform.monoMs() - lookedAt >= busyMs) {
          await onBusy(quietMs);
          lookedAt = platform.monoMs();
        }
        if (quietMs < hangMs) continue;
        this.isHanging = true;
        onHang();
        return;
      }
      if (quietMs >= (isIdle ? idleMs : Math.max(idleMs, restMs.blocked))) return;
    }
  }
}
