// The threads in which worlds are played, watched: one that does not answer in time is ended, whatever its code does, and another is started when it is needed.
import type { Platform, Thread } from "../platform/platform.ts";
import type { DescribedFunction, FromThread, Loaded, ThreadInput, ToThread } from "./worker/messages.ts";

export type Answer =
  | FromThread
  /** It did not answer in time, and is gone: an endless loop. */
  | { readonly kind: "stuck" }
  /** It ended by itself. */
  | { readonly kind: "gone"; readonly why: string };

export interface PlayingThreadsOptions extends ThreadInput {
  readonly platform: Pick<Platform, "startThread" | "timer">;
  /** How many worlds are played side by side. */
  readonly size: number;
  /** Real time one answer may take. */
  readonly answerMsMax: number;
}

interface Held {
  readonly thread: Thread;
  /** Node, this package and the user's modules are loaded. */
  isWarm: boolean;
  take: (answer: Answer | Loaded) => void;
}

// Modules that were loaded are not freed before their thread ends.
const heapBytesMax = 384 * 1024 * 1024;

/** How much longer a thread may take until it has loaded everything for the first time: on a busy machine that takes many times what a world does. */
export const coldFactor = 4;

export class PlayingThreads {
  private readonly free: Held[] = [];
  private readonly all = new Set<Held>();
  private readonly line: (() => void)[] = [];
  private isClosed = false;

  constructor(private readonly options: PlayingThreadsOptions) {}

  async describe(
    modules: readonly string[],
  ): Promise<readonly DescribedFunction[] | Exclude<Answer, { kind: "played" | "described" }>> {
    const answer = await this.ask({ kind: "describe", modules });
    if (answer.kind === "described") return answer.functions;
    return answer.kind === "played" ? { kind: "gone", why: "it answered something else" } : answer;
  }

  async ask(message: ToThread): Promise<Answer> {
    const held = await this.acquire();
    const { platform, answerMsMax } = this.options;
    const answer = await new Promise<Answer>((resolve) => {
      const within = (ms: number) => platform.timer(ms, () => resolve({ kind: "stuck" }));
      let timer = within(held.isWarm ? answerMsMax : answerMsMax * coldFactor);
      held.take = (said) => {
        timer.cancel();
        held.isWarm = true;
        if (said.kind !== "loaded") resolve(said);
        else timer = within(answerMsMax);
      };
      held.thread.post(message);
    });
    const isSpent =
      answer.kind === "stuck" ||
      answer.kind === "gone" ||
      this.isClosed ||
      (answer.kind === "played" && answer.heapBytes > heapBytesMax);
    if (isSpent) {
      this.all.delete(held);
      await held.thread.terminate();
    } else {
      this.free.push(held);
    }
    this.line.shift()?.();
    return answer;
  }

  /** Those that are there. */
  get count(): number {
    return this.all.size;
  }

  /** Nothing is left behind. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.all].map(({ thread }) => thread.terminate()));
    this.all.clear();
  }

  private async acquire(): Promise<Held> {
    for (;;) {
      const held = this.free.pop() ?? (this.all.size < this.options.size ? this.start() : undefined);
      if (held !== undefined) return held;
      await new Promise<void>((resolve) => this.line.push(resolve));
    }
  }

  private start(): Held {
    const { platform, loader } = this.options;
    const thread = platform.startThread("verify/worker/thread", { loader } satisfies ThreadInput);
    const held: Held = { thread, isWarm: false, take: () => {} };
    thread.onMessage((message: FromThread | Loaded) => held.take(message));
    thread.onEnd((error) => {
      this.all.delete(held);
      held.take({ kind: "gone", why: error?.message ?? "its thread ended" });
    });
    this.all.add(held);
    return held;
  }
}
