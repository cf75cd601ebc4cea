// The threads in which worlds are played, watched: one that does not answer in time is ended, whatever its code does, and another is started when it is needed.
import type { Platform, Thread } from "../platform/platform.ts";
import type { DescribedFunction, FromThread, Loaded, Opened, ThreadInput, ToThread } from "./worker/messages.ts";
import type { DatabaseScript } from "./worker/sql/database-script.ts";

export type Answer =
  | FromThread
  /** It did not answer in time, and is gone: an endless loop. */
  | { readonly kind: "stuck" }
  /** It ended by itself. */
  | { readonly kind: "gone"; readonly why: string };

export interface PlayingThreadsOptions extends ThreadInput {
  readonly platform: Pick<Platform, "startThread" | "timer" | "soon">;
  /** Worlds played side by side. */
  readonly size: number;
  /** Real time one answer may take. */
  readonly answerMsMax: number;
}

interface Held {
  readonly thread: Thread;
  /** It came as far as the user's modules. */
  isOpen: boolean;
  /** Node, this package and the user's modules are loaded. */
  isWarm: boolean;
  take: (answer: Answer | Loaded) => void;
}

// Modules that were loaded are not freed before their thread ends.
const heapBytesMax = 384 * 1024 * 1024;

/** Until it has loaded everything once, a thread may take this many times as long: on a busy machine loading takes many times what a world does. */
export const coldFactor = 4;

export class PlayingThreads {
  private free: Held[] = [];
  private readonly all = new Set<Held>();
  private readonly line: (() => void)[] = [];
  private isClosed = false;

  constructor(private readonly options: PlayingThreadsOptions) {}

  async describe(
    modules: readonly string[],
    databases?: readonly DatabaseScript[],
  ): Promise<readonly DescribedFunction[] | Exclude<Answer, { kind: "played" | "described" | "replayed" | "called" }>> {
    const answer = await this.ask({
      kind: "describe",
      modules,
      ...(databases === undefined ? {} : { databases }),
    });
    if (answer.kind === "described") return answer.functions;
    return answer.kind === "played" || answer.kind === "replayed" || answer.kind === "called"
      ? { kind: "gone", why: "it answered something else" }
      : answer;
  }

  /** `onLoaded` whenever it says that what comes now is the program's own time. */
  async ask(message: ToThread, onLoaded: () => void = () => {}): Promise<Answer> {
    const { answer, isOpen } = await this.askOne(message, onLoaded);
    // It never came as far as the user's modules: not their fault, and no reason to blame them.
    return answer.kind === "stuck" && !isOpen ? (await this.askOne(message, onLoaded)).answer : answer;
  }

  private async askOne(
    message: ToThread,
    onLoaded: () => void,
  ): Promise<{ readonly answer: Answer; readonly isOpen: boolean }> {
    const held = await this.acquire();
    // After a description worlds are played: the other threads open meanwhile.
    if (message.kind === "describe")
      while (this.all.size < this.options.size && !this.isClosed) this.free.push(this.start());
    if (held === null) return { answer: { kind: "gone", why: "everything was closed" }, isOpen: false };
    const { platform, answerMsMax } = this.options;
    const answer = await new Promise<Answer>((resolve) => {
      let heard = 0;
      const within = (ms: number) => {
        const before = heard;
        const giveUp = () => {
          if (before === heard) resolve({ kind: "stuck" });
        };
        // A machine that slept rings before it hands on what arrived meanwhile.
        return platform.timer(ms, () => platform.soon(giveUp));
      };
      let timer = within(held.isWarm ? answerMsMax : answerMsMax * coldFactor);
      held.take = (said) => {
        heard++;
        timer.cancel();
        held.isWarm = true;
        if (said.kind !== "loaded") return resolve(said);
        onLoaded();
        timer = within(answerMsMax);
      };
      held.thread.post(message);
    });
    const isSpent =
      answer.kind === "stuck" ||
      answer.kind === "gone" ||
      this.isClosed ||
      ("heapBytes" in answer && answer.heapBytes > heapBytesMax);
    if (isSpent) this.all.delete(held);
    else this.free.push(held);
    this.line.shift()?.();
    if (isSpent) await held.thread.terminate();
    return { answer, isOpen: held.isOpen };
  }

  /** Whether those that are there keep the process from ending. */
  keepAlive(isKept: boolean): void {
    for (const { thread } of this.all) thread.ref(isKept);
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
    for (const go of this.line.splice(0)) go();
  }

  /** Null once they are closed: none is started any more. */
  private async acquire(): Promise<Held | null> {
    for (;;) {
      if (this.isClosed) return null;
      const held = this.free.pop() ?? (this.all.size < this.options.size ? this.start() : undefined);
      if (held !== undefined) return held;
      await new Promise<void>((resolve) => this.line.push(resolve));
    }
  }

  private start(): Held {
    const { platform, loader } = this.options;
    const thread = platform.startThread("verify/worker/thread", { loader } satisfies ThreadInput);
    const held: Held = { thread, isOpen: false, isWarm: false, take: () => {} };
    thread.onMessage((message: FromThread | Loaded | Opened) => {
      if (message.kind === "opened") held.isOpen = true;
      else held.take(message);
    });
    thread.onEnd((error) => {
      this.all.delete(held);
      // A thread may end by itself while it is free: the next asker would wait in vain.
      this.free = this.free.filter((other) => other !== held);
      held.take({ kind: "gone", why: error?.message ?? "its thread ended" });
    });
    this.all.add(held);
    return held;
  }
}
