// Who waits for a run to end. Ends of this process are announced with their result; ends elsewhere are found by looking.
import { errors } from "../model/errors.ts";
import { type EndState, isEnded } from "../model/run.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import { pollMsOf } from "./neighbours.ts";

export interface RunEnd {
  readonly state: EndState;
  /** JSON text of the value or the error. */
  readonly result: string | null;
}

type Hear = (end: RunEnd | null) => void;

export class RunEnds {
  private readonly waiting = new Map<string, Set<Hear>>();

  constructor(
    private readonly store: Store,
    private readonly env: string,
    private readonly platform: Pick<Platform, "timer">,
    /** Whether this process executes the run right now: its end will be announced. */
    private readonly isHere: (runId: string) => boolean,
  ) {}

  announce(runId: string, end: RunEnd): void {
    for (const hear of this.waiting.get(runId) ?? []) hear(end);
  }

  async wait(runId: string, signal: AbortSignal | null): Promise<RunEnd> {
    for (let isFirst = true; ; isFirst = false) {
      const heard = this.listen(runId, signal);
      try {
        signal?.throwIfAborted();
        // A run that is being executed here needs no look: its end cannot be missed.
        if (!isFirst || !this.isHere(runId)) {
          const run = await this.store.reads.run(this.env, runId);
          if (run === null) throw errors.RUN_UNKNOWN({ runId });
          if (isEnded(run.state)) {
            await this.store.shared?.stand();
            return { state: run.state, result: run.result };
          }
        }
        const end = await heard.end;
        if (end !== null) return end;
      } finally {
        heard.stop();
      }
    }
  }

  /** The next announcement, or null when it is time to look, or the caller gave up. */
  private listen(runId: string, signal: AbortSignal | null): { end: Promise<RunEnd | null>; stop: () => void } {
    let hear: Hear = () => {};
    const end = new Promise<RunEnd | null>((resolve) => {
      hear = resolve;
    });
    const waiting = this.waiting.get(runId) ?? new Set();
    this.waiting.set(runId, waiting);
    waiting.add(hear);
    const look = () => hear(null);
    const poll = this.platform.timer(pollMsOf(this.store.shared), look, { background: true });
    signal?.addEventListener("abort", look, { once: true });
    const stop = () => {
      poll.cancel();
      signal?.removeEventListener("abort", look);
      waiting.delete(hear);
      if (waiting.size === 0) this.waiting.delete(runId);
    };
    return { end, stop };
  }
}
