// One run while its app drives it. The app reports; the run's call to its code, which is under way on this side, waits for
// what it says:
//
//   driving ──report of finished steps──▶ driving
//           ──anything else (wait, plan, error, result)──▶ handed over: that is the call's answer, and the server goes on
//           ──nothing for a while──▶ silent: the server enters the handler again by itself
//   silent  ──a report──▶ driving: the app is alive, so the server's own call is given up
//           ──the server's call was answered──▶ handed over
import type { RemoteReply } from "../../execute/remote.ts";
import type { Platform, Timer } from "../../platform/platform.ts";

type State = "driving" | "silent" | "handed-over";

export class Drive {
  state: State = "driving";
  /** Settled once the run is stored. */
  begun: Promise<void> = Promise.resolve();
  /** The report it was handed over with: the same again is no other. */
  lastReport: string | null = null;
  private reply: RemoteReply | null = null;
  private timer: Timer | null = null;
  private changed: (() => void)[] = [];

  constructor(
    private readonly platform: Pick<Platform, "timer">,
    private readonly silentMs: number,
    /** Nothing has happened for a while, and the app does not drive. */
    private readonly onForgotten: () => void,
    firstSilenceMs: number = silentMs,
  ) {
    this.arm(firstSilenceMs, () => this.fallSilent());
  }

  /** The app reported, here or to another node a while ago. */
  heard(silentMs: number = this.silentMs): void {
    if (this.state === "handed-over") return;
    this.state = "driving";
    this.arm(silentMs, () => this.fallSilent());
    this.tell();
  }

  handOver(reply: RemoteReply): void {
    if (this.state === "handed-over") return;
    this.reply = reply;
    this.over();
  }

  /** Somebody else goes on with the run. */
  over(): void {
    this.state = "handed-over";
    this.arm(this.silentMs, this.onForgotten);
    this.tell();
  }

  end(): void {
    this.state = "handed-over";
    this.timer?.cancel();
    this.tell();
  }

  /** Waits until the state may be another; rejects with the signal's reason. */
  async change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let leave = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        leave = () => reject(signal.reason);
        this.changed.push(resolve);
        signal.addEventListener("abort", leave, { once: true });
      });
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** The app's reply when it handed over; given once. */
  takeReply(): RemoteReply | null {
    const { reply } = this;
    this.reply = null;
    return reply;
  }

  private fallSilent(): void {
    this.state = "silent";
    this.arm(this.silentMs, this.onForgotten);
    this.tell();
  }

  private arm(ms: number, ring: () => void): void {
    this.timer?.cancel();
    this.timer = this.platform.timer(ms, ring, { background: true });
  }

  private tell(): void {
    for (const resolve of this.changed.splice(0)) resolve();
  }
}
