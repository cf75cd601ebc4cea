// The store as the engine sees it: the calls of a turn of the event loop are posted together, whether the thread is at work or not, and
// whatever has arrived there when a commit is done becomes the next one. So the thread finds its next batch without asking, and packing
// and unpacking are done meanwhile. Answers are handed out half a batch at a time, and what the first half asks for next is posted before
// the second half is handed out.
//
//   queued ──this turn is over, and the thread has not too many──▶ posted ──committed, or refused──▶ answered, in the order of the calls
//   any state ──broken or thread ended──▶ broken: every call, waiting or new, is refused with the reason
//
// The thread's work on them is in batch-turns.ts. Reads that look at many rows have a thread of their own (read-shell.ts).
import { Answer } from "../../model/answer.ts";
import { errors, IdemError } from "../../model/errors.ts";
import type { Platform, Thread, Timer } from "../../platform/platform.ts";
import { readKinds, type StoreReads } from "../reads.ts";
import { operationNames, type Store } from "../store.ts";
import { type Call, type CallAnswer, readAnswer } from "./calls.ts";
import { ReadShell } from "./read-shell.ts";
import { type StoreTrouble, spellTrouble } from "./store-trouble.ts";
import {
  type FromThread,
  type OpenedStore,
  postedCallsMax,
  type ThreadInput,
  type ToThread,
} from "./thread-messages.ts";
import { noLeaseList, packCall } from "./wire.ts";
import { unpackAnswer } from "./wire-answers.ts";

// Fewer than this are handed out together: splitting a handful costs a turn and wins nothing.
const handOutMin = 16;
// Refused before acceptance, never made to wait: a queue without a bound is a slow way to run out of memory.
const queuedCallsMax = 10_000;
const queuedCharsMax = 32 * 1024 * 1024;

/** A call that was not answered yet. */
class Asked extends Answer<unknown> {
  /** As it came from the thread, until it is handed out. */
  packed: unknown = undefined;

  constructor(
    readonly call: Call,
    readonly chars: number,
  ) {
    super();
  }
}

class Read extends Answer<unknown> {
  /** `isLong`: it may look at many rows. */
  constructor(readonly isLong: boolean) {
    super();
  }
}

export interface ThreadStoreOptions {
  readonly path: string;
  readonly owner: string;
  readonly platform: Platform;
  readonly synchronous?: "NORMAL";
  /** Told how many calls each commit holds. */
  readonly onCommit?: (calls: number) => void;
  /** Told what a person should know: that the file is locked, full, slow or gone, and when that is over. */
  readonly onTrouble?: (trouble: StoreTrouble) => void;
  /** Shorter in tests. */
  readonly patience?: ThreadInput["patience"];
  /** What long reads may cost the owner's thread before they get one of their own; 0 in tests, to have it from the beginning. */
  readonly readerAfterMs?: number;
}

// A file that has to be copied before it is lost takes its time; everything else of an ending is over in no time.
const endMsMax = 5_000;
const copyMsMax = 5 * 60_000;

export async function openThreadStore(options: ThreadStoreOptions): Promise<Store> {
  const input: ThreadInput = {
    path: options.path,
    owner: options.owner,
    synchronous: options.synchronous ?? null,
    patience: options.patience ?? null,
  };
  const shell = new ThreadShell(options.platform.startThread("store/sqlite/thread.cjs", input), options);
  await shell.opened;
  return shell.store();
}

class ThreadShell {
  readonly opened: Promise<void>;
  private queue: Asked[] = [];
  private queuedChars = 0;
  /** Not answered yet, in the order of their calls. */
  private posted: Asked[] = [];
  private postedChars = 0;
  private answered: Asked[] = [];
  private postPlanned = false;
  private handOutPlanned = false;
  private readonly leased = noLeaseList();
  private readIds = 0;
  private readonly reading = new Map<number, Read>();
  private broken: IdemError | null = null;
  private closed: (() => void) | null = null;
  private readonly platform: Pick<Platform, "soon" | "timer">;
  private isCopying = false;
  private readonly ended: Promise<void>;
  private longReads: ReadShell | null = null;

  constructor(
    private readonly thread: Thread,
    private readonly options: ThreadStoreOptions,
  ) {
    this.platform = options.platform;
    this.ended = new Promise((resolve) => thread.onEnd(() => resolve()));
    this.opened = new Promise((resolve, reject) => {
      thread.onMessage((message: FromThread) => {
        if (message.kind !== "open") return this.take(message);
        try {
          const opened = readAnswer(message.answer) as OpenedStore;
          this.longReads = new ReadShell({
            platform: options.platform,
            opened: () => opened,
            ...(options.readerAfterMs === undefined ? {} : { afterMs: options.readerAfterMs }),
          });
          resolve();
          const { rollback } = opened;
          if (rollback !== null) this.tell({ level: "error", kind: "rolled-back", path: options.path, text: rollback });
        } catch (error) {
          // In this order: in Deno the thread is over before `terminate` returns, and its end is a reason too.
          reject(error);
          void thread.terminate();
        }
      });
      thread.onEnd((error) => {
        this.breakWith(errors.STORE_UNAVAILABLE({ why: `its thread ended (${error?.message ?? "closed"})` }));
        reject(this.broken);
        this.closed?.();
      });
    });
  }

  store(): Store {
    const store: Record<string, unknown> = {
      shared: null,
      outbox: null,
      transactional: null,
      close: () => this.close(),
    };
    for (const name of operationNames) {
      store[name] = (...input: unknown[]) => this.call({ name, input }).made;
    }
    // On the path of every step, and heard without a promise.
    store.advance = (input: unknown) => this.call({ name: "advance", input: [input] });
    // Any name is a read; the thread knows which exist.
    store.reads = new Proxy({} as Record<string, unknown>, {
      get: (target, name: string) => {
        target[name] ??= (...input: unknown[]) => this.read(name as keyof StoreReads, input);
        return target[name];
      },
    });
    return store as unknown as Store;
  }

  private call(call: Call): Answer<unknown> {
    const asked = new Asked(call, payloadChars(call));
    const { queue, broken } = this;
    const isFull = queue.length >= queuedCallsMax || this.queuedChars >= queuedCharsMax;
    if (broken !== null || isFull) {
      asked.reject(broken ?? errors.STORE_BUSY({ queued: queue.length }));
      return asked;
    }
    this.queuedChars += asked.chars;
    this.queue.push(asked);
    this.planPost();
    return asked;
  }

  /** Once this turn is over: what is called together is committed together. */
  private planPost(): void {
    if (this.postPlanned) return;
    this.postPlanned = true;
    this.thread.ref(true);
    this.platform.soon(() => {
      this.postPlanned = false;
      this.post();
    });
  }

  private post(): void {
    const room = this.postedChars < queuedCharsMax ? postedCallsMax - this.posted.length : 0;
    if (this.queue.length > 0 && room > 0 && this.broken === null) {
      const calls = this.queue.length <= room ? this.queue : this.queue.slice(0, room);
      this.queue = calls === this.queue ? [] : this.queue.slice(room);
      for (const { chars } of calls) {
        this.queuedChars -= chars;
        this.postedChars += chars;
      }
      this.posted = this.posted.length === 0 ? calls : [...this.posted, ...calls];
      this.send({ kind: "commit", calls: calls.map(({ call }) => packCall(call, this.leased)) });
    }
    this.thread.ref(this.posted.length > 0 || this.reading.size > 0 || this.isCopying);
  }

  /** Those that were posted first. */
  private noLongerPosted(count: number): Asked[] {
    const { posted } = this;
    this.posted = posted.slice(count);
    posted.length = count;
    for (const { chars } of posted) this.postedChars -= chars;
    return posted;
  }

  private take(message: FromThread): void {
    switch (message.kind) {
      case "committed": {
        const { answers } = message;
        const committed = this.noLongerPosted(answers.length);
        for (let i = 0; i < committed.length; i++) committed[i]!.packed = answers[i];
        this.answered = this.answered.length === 0 ? committed : [...this.answered, ...committed];
        this.options.onCommit?.(committed.length);
        this.planHandOut(Math.max(handOutMin, Math.ceil(this.answered.length / 2)));
        return;
      }
      case "read": {
        const waiting = this.reading.get(message.id);
        this.reading.delete(message.id);
        if (waiting !== undefined) settle(waiting, message.answer);
        if (waiting?.isLong === true) this.longReads?.noteSpent(message.ms);
        this.thread.ref(this.posted.length > 0 || this.reading.size > 0 || this.isCopying);
        return;
      }
      case "refused":
        this.handOut(this.answered.length);
        for (const waiting of this.noLongerPosted(message.calls)) settle(waiting, message.answer);
        this.post();
        return;
      case "spell":
        this.tell(spellTrouble(message.spell, this.options.path));
        return;
      case "broken":
      case "copied": {
        const error = errorOf(message.answer);
        // Until it is copied the process must not end by itself: with it goes the last handle on the file.
        this.isCopying = message.kind === "broken" && message.isCopied;
        if (message.kind === "copied") this.broken = error;
        else this.breakWith(error);
        this.thread.ref(this.isCopying);
        const isGood = message.kind === "copied" && message.isWhole;
        this.tell({
          level: isGood ? "warn" : "error",
          kind: message.kind,
          path: this.options.path,
          text: error.message,
        });
        return;
      }
      case "closed":
        this.closed?.();
    }
  }

  /** Not in the turn of a message: while the thread answers, the next one would follow at once, and timers and sockets wait for all of them. */
  private planHandOut(count: number): void {
    if (this.handOutPlanned) return;
    this.handOutPlanned = true;
    this.platform.soon(() => {
      this.handOutPlanned = false;
      this.post();
      this.handOut(count);
      if (this.answered.length > 0) this.planHandOut(count);
    });
  }

  /** In the order of the calls. */
  private handOut(count: number): void {
    const { answered } = this;
    this.answered = count >= answered.length ? [] : answered.slice(count);
    for (let i = 0; i < count && i < answered.length; i++) {
      const asked = answered[i]!;
      settle(asked, unpackAnswer(asked.call, asked.packed));
    }
  }

  private read(name: keyof StoreReads, input: readonly unknown[]): Promise<unknown> {
    if (this.broken !== null) return Promise.reject(this.broken);
    const read = new Read(readKinds[name] === "page");
    if (!read.isLong || !this.readApart(name, input, read)) this.readHere(name, input, read);
    return read.made;
  }

  /** In the thread of the owner's handle. */
  private readHere(name: keyof StoreReads, input: readonly unknown[], read: Read): void {
    const id = ++this.readIds;
    this.reading.set(id, read);
    this.thread.ref(true);
    this.send({ kind: "read", id, name, input });
  }

  /** False where no thread is open for long reads. */
  private readApart(name: keyof StoreReads, input: readonly unknown[], read: Read): boolean {
    const lose = () => {
      if (this.broken === null) this.readHere(name, input, read);
      else read.reject(this.broken);
    };
    return this.longReads!.take({ name, input, settle: (answer) => settle(read, answer), lose });
  }

  private breakWith(error: IdemError): void {
    if (this.broken !== null) return;
    this.broken = error;
    // Calls committed before are answered as they were; only those still under way are unknown.
    this.handOut(this.answered.length);
    const waiting = [...this.posted, ...this.queue, ...this.reading.values()];
    this.posted = [];
    this.queue = [];
    this.reading.clear();
    for (const asked of waiting) asked.reject(error);
    void this.longReads?.end();
  }

  private tell(trouble: StoreTrouble): void {
    this.options.onTrouble?.(trouble);
  }

  private async close(): Promise<void> {
    if (this.broken !== null) return this.letGo();
    while (this.posted.length > 0 || this.queue.length > 0 || this.answered.length > 0) {
      // A call that is answered last settles after every call before it.
      await this.call({ name: "sweep", input: [{ max: 0, repair: false }] }).made.catch(() => null);
    }
    if (this.broken !== null) return this.letGo();
    this.thread.ref(true);
    await this.longReads?.close(endMsMax);
    if (this.broken !== null) return this.letGo();
    await new Promise<void>((resolve) => {
      this.closed = resolve;
      this.send({ kind: "close" });
    });
    this.breakWith(errors.STORE_UNAVAILABLE({ why: "it was closed" }));
    await this.letGo();
  }

  /** A thread that ends has let go of file and lock. One that hangs on its disk is left behind, and keeps nobody alive. */
  private async letGo(): Promise<void> {
    const { timer } = this.platform;
    let late: Timer | null = null;
    const isLate = new Promise<void>((resolve) => {
      late = timer(this.isCopying ? copyMsMax : endMsMax, resolve);
    });
    await Promise.race([this.ended, isLate]);
    (late as Timer | null)?.cancel();
    await Promise.race([this.thread.terminate(), isLate]);
    this.thread.ref(false);
  }

  private send(message: ToThread): void {
    this.thread.post(message);
  }
}

function errorOf(answer: CallAnswer): IdemError {
  try {
    readAnswer(answer);
  } catch (error) {
    if (error instanceof IdemError) return error;
  }
  return errors.STORE_UNAVAILABLE({ why: "unknown" });
}

function settle(waiting: Answer<unknown>, answer: CallAnswer): void {
  try {
    waiting.resolve(readAnswer(answer));
  } catch (error) {
    waiting.reject(error);
  }
}

/** Payload text a call carries, near enough for a bound. */
function payloadChars(call: Call): number {
  const input = call.input[0] as {
    events?: readonly { data: string }[];
    steps?: readonly { outcome: { json: string } }[];
  } | null;
  let chars = 0;
  if (call.name === "ingest") for (const event of input?.events ?? []) chars += event.data.length;
  if (call.name === "advance") for (const step of input?.steps ?? []) chars += step.outcome.json.length;
  return chars;
}
