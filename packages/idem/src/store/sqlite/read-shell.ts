// The way to the thread of long reads (read-thread.ts). It is started once long reads have cost the owner's thread some time: a program that
// looks at a list now and then needs no second thread. Until it is open, and whenever it is lost, the owner's thread answers: a read may be
// made twice.
//
//   none ──long reads have cost enough──▶ opening ──open──▶ open ──ended by itself──▶ none, and ten times as much has to be spent before the next
//                                            └──could not open──▶ none, the same
import type { Platform, Thread } from "../../platform/platform.ts";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { StoreReads } from "../reads.ts";
import type { CallAnswer } from "./calls.ts";
import type { FromReader, OpenedStore, ToReader } from "./thread-messages.ts";

/** Long reads that the owner's thread answers before there is one for them. */
export const readerAfterMs = 20;
// Every loss makes the next thread so much dearer: one that cannot live is not started again and again.
const lostFactor = 10;

export interface LongRead {
  readonly name: keyof StoreReads;
  readonly input: readonly unknown[];
  readonly settle: (answer: CallAnswer) => void;
  /** The thread was lost before it answered. */
  readonly lose: () => void;
}

export interface ReadShellOptions {
  readonly platform: Pick<Platform, "startThread" | "timer">;
  readonly afterMs?: number;
  /** The files that are open. */
  readonly opened: () => OpenedStore;
}

export class ReadShell {
  private thread: Thread | null = null;
  private isOpen = false;
  private ids = 0;
  private readonly reading = new Map<number, LongRead>();
  private spentMs = 0;
  private afterMs: number;
  private closed: (() => void) | null = null;
  private isOver = false;

  constructor(private readonly options: ReadShellOptions) {
    this.afterMs = options.afterMs ?? readerAfterMs;
    if (this.afterMs === 0) this.start();
  }

  /** False where the owner's thread has to answer it. */
  take(read: LongRead): boolean {
    const { thread } = this;
    if (thread === null || !this.isOpen) return false;
    const id = ++this.ids;
    this.reading.set(id, read);
    thread.ref(true);
    this.send({ kind: "read", id, name: read.name, input: read.input });
    return true;
  }

  /** The owner's thread has answered one in so much time. */
  noteSpent(ms: number): void {
    this.spentMs += ms;
    if (this.spentMs >= this.afterMs && this.thread === null && !this.isOver) this.start();
  }

  /** Before the owner's handle is closed, which is the last to let go of the log. What was asked for is answered. */
  async close(endMsMax: number): Promise<void> {
    const { thread } = this;
    this.isOver = true;
    if (thread === null) return;
    if (this.isOpen) {
      thread.ref(true);
      const closed = new Promise<void>((resolve) => {
        this.closed = resolve;
      });
      this.send({ kind: "close" });
      await waitAtMost(this.options.platform, endMsMax, closed);
    }
    await this.end();
  }

  /** The store is broken: nothing of it is answered any more. */
  async end(): Promise<void> {
    const { thread } = this;
    this.isOver = true;
    this.forget();
    await thread?.terminate();
  }

  private start(): void {
    const thread = this.options.platform.startThread("store/sqlite/read-thread.cjs", this.options.opened());
    this.thread = thread;
    thread.onMessage((message: FromReader) => {
      if (this.thread === thread) this.hear(thread, message);
    });
    thread.onEnd(() => {
      if (this.thread !== thread) return;
      this.afterMs = Math.max(1, this.afterMs) * lostFactor;
      this.spentMs = 0;
      this.forget();
    });
    thread.ref(false);
  }

  private hear(thread: Thread, message: FromReader): void {
    switch (message.kind) {
      case "open":
        this.isOpen = message.answer.ok;
        return;
      case "read": {
        const read = this.reading.get(message.id);
        this.reading.delete(message.id);
        if (this.reading.size === 0) thread.ref(false);
        read?.settle(message.answer);
        return;
      }
      case "closed":
        this.closed?.();
    }
  }

  private forget(): void {
    this.thread = null;
    this.isOpen = false;
    this.closed?.();
    const lost = [...this.reading.values()];
    this.reading.clear();
    for (const read of lost) read.lose();
  }

  private send(message: ToReader): void {
    this.thread!.post(message);
  }
}
