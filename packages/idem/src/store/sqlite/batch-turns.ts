// The store's thread, batch by batch: whatever has arrived while the last commit was syncing is the next one. Tries again what the file
// refuses for a while, and ends the store where its file can no longer be trusted or has lost its name.
//
//   idle ──calls──▶ trying ──committed, and its name still leads to the file──▶ answered ──▶ trying what has arrived, or idle
//                   │   ▲  └──a failed sync, a damaged file, another owner──▶ broken: closed, lock and all
//      locked, full,│   │  └──the file was deleted, moved or replaced──▶ broken, everything copied to a file beside it, closed
//     failing: undone   │ a growing pause
//                   ▼   │
//                  waiting ──five seconds without a commit──▶ refused: truthfully, and what has arrived is tried
//
// Reads are answered in every state but broken, as they arrive, for at most 5 ms between two yields to the event loop. The rest of them wait
// in a queue behind the calls that have arrived by then: however many reads there are, a commit waits for 5 ms of them and the one that was
// under way.
import { errors, IdemError } from "../../model/errors.ts";
import { fileIdentity, presentName, writableFolders } from "../../platform/node-files.ts";
import { answerOf, type Call, fail } from "./calls.ts";
import type { SqliteCore } from "./core.ts";
import { FileWatch } from "./file-watch.ts";
import { Patience, patience } from "./patience.ts";
import { rescueStore } from "./rescue-store.ts";
import { judgeFailure, refusalOf } from "./storage-failure.ts";
import { batchCallsMax, type FromThread, type OpenFile, type ThreadInput, type ToThread } from "./thread-messages.ts";
import { noLeaseList, unpackCall } from "./wire.ts";
import { packAnswer } from "./wire-answers.ts";

/** Reads that run between two yields to the event loop; a call that has arrived by then is committed before the next read. */
export const readShareMs = 5;
// A name is also looked at between commits: an idle store would not notice.
const lookMs = 1_000;
// Three looks take 7 µs; a commit every millisecond would spend them a thousand times a second for nothing.
const looksApartMs = 50;

export interface BatchTurnsOptions {
  readonly core: SqliteCore;
  /** As it was given, for messages to people. */
  readonly path: string;
  readonly patience: ThreadInput["patience"];
  readonly clock: { wallMs(): number; monoMs(): number };
  readonly timer: (ms: number, run: () => void) => { cancel(): void };
  /** Once every message that has arrived was taken. */
  readonly soon: (run: () => void) => void;
  readonly post: (message: FromThread) => void;
  /** Nothing is left to do. */
  readonly end: () => void;
}

type ReadMessage = Extract<ToThread, { readonly kind: "read" }>;

/** First in, first out; taking one costs the same however many wait. */
class ReadQueue {
  private messages: ReadMessage[] = [];
  private taken = 0;

  get size(): number {
    return this.messages.length - this.taken;
  }

  add(message: ReadMessage): void {
    this.messages.push(message);
  }

  take(): ReadMessage | undefined {
    const next = this.messages[this.taken++];
    if (this.taken < this.messages.length) return next;
    this.messages = [];
    this.taken = 0;
    return next;
  }
}

interface Batch {
  readonly calls: readonly Call[];
  /** One of its tries may be in the log. */
  isUnsure: boolean;
}

export class BatchTurns {
  private readonly leased = noLeaseList();
  /** In the order of their arrival. */
  private arrived: Call[] = [];
  /** A batch is tried, or waits to be tried again. */
  private isTrying = false;
  /** Reads that did not fit into their share, in the order of their arrival. */
  private readonly waitingReads = new ReadQueue();
  /** Spent on reads since the last yield. */
  private readMs = 0;
  private isYielding = false;
  private readonly patience: Patience;
  private readonly watch: FileWatch;
  private lookedMono: number;
  private looking: { cancel(): void };
  private isOver = false;

  constructor(private readonly options: BatchTurnsOptions) {
    const { core, clock, post } = options;
    this.patience = new Patience({
      ...(options.patience ?? patience),
      tell: (spell) => post({ kind: "spell", spell }),
    });
    this.watch = new FileWatch(core.path, fileIdentity);
    this.lookedMono = clock.monoMs();
    this.looking = this.lookLater();
  }

  /** The files of the store, as they were when it was opened. */
  get files(): readonly OpenFile[] {
    return this.watch.files;
  }

  take(message: ToThread): void {
    if (this.isOver) return;
    const { post, end } = this.options;
    switch (message.kind) {
      case "commit": {
        for (const call of message.calls) this.arrived.push(unpackCall(call, this.leased));
        if (!this.isTrying) this.yield();
        return;
      }
      case "read":
        if (this.waitingReads.size === 0 && this.readMs < readShareMs) {
          this.read(message);
        } else {
          this.waitingReads.add(message);
          this.yield();
        }
        return;
      case "close":
        for (let next = this.waitingReads.take(); next !== undefined; next = this.waitingReads.take()) this.read(next);
        this.stop(true);
        post({ kind: "closed" });
        end();
    }
  }

  private read({ id, name, input }: ReadMessage): void {
    const { core, clock, post } = this.options;
    const beganMono = clock.monoMs();
    const answer = answerOf(() => core.read(name, input));
    const ms = clock.monoMs() - beganMono;
    this.readMs += ms;
    post({ kind: "read", id, answer, ms });
  }

  /** Takes every message that has arrived, then the calls and reads among them. */
  private yield(): void {
    if (this.isYielding) return;
    this.isYielding = true;
    this.options.soon(() => {
      this.isYielding = false;
      if (this.isOver) return;
      this.readMs = 0;
      if (!this.isTrying) this.commitArrived();
      this.readWaiting();
    });
  }

  private commitArrived(): void {
    const { arrived } = this;
    if (arrived.length === 0) return;
    const calls = arrived.length <= batchCallsMax ? arrived : arrived.slice(0, batchCallsMax);
    this.arrived = calls === arrived ? [] : arrived.slice(batchCallsMax);
    this.isTrying = true;
    this.try({ calls, isUnsure: false });
  }

  private readWaiting(): void {
    while (!this.isOver && this.readMs < readShareMs) {
      const next = this.waitingReads.take();
      if (next === undefined) return;
      this.read(next);
    }
    if (!this.isOver && this.waitingReads.size > 0) this.yield();
  }

  private next(): void {
    this.isTrying = false;
    if (this.arrived.length > 0) this.yield();
  }

  private try(batch: Batch): void {
    if (this.isOver) return;
    const { core, clock, post } = this.options;
    const { calls } = batch;
    const beganMono = clock.monoMs();
    try {
      const answers = core.commit(calls).map((answer, i) => packAnswer(calls[i]!, answer));
      const now = clock.monoMs();
      if (now - this.lookedMono >= looksApartMs && !this.look()) return;
      this.patience.noteCommit(now - beganMono, now);
      post({ kind: "committed", answers });
      core.tend();
    } catch (error) {
      this.refused(batch, error);
      return;
    }
    this.next();
  }

  private refused(batch: Batch, error: unknown): void {
    const { clock, timer, post, path } = this.options;
    const failure = judgeFailure(error);
    if (failure === null || failure.kind === "ended") {
      this.break(error);
      return;
    }
    const { kind, why } = failure;
    batch.isUnsure ||= kind === "failing";
    const now = clock.monoMs();
    const pauseMs = this.patience.pauseAfter({ kind, why }, now);
    if (pauseMs !== null) {
      timer(pauseMs, () => this.try(batch));
      return;
    }
    const forMs = this.patience.refusedForMs(now);
    const answer = fail(refusalOf(failure, { path, forMs, isUnsure: batch.isUnsure }));
    post({ kind: "refused", calls: batch.calls.length, answer });
    this.next();
  }

  /** After a failed sync the pages may be gone from memory too: only who opens the file anew may trust it again. */
  private break(error: unknown): void {
    const { path, post, end } = this.options;
    const failure = judgeFailure(error);
    const why = failure?.why ?? (error instanceof Error ? error.message : String(error));
    const told = error instanceof IdemError ? error : errors.STORE_BROKEN({ path, why });
    this.isOver = true;
    post({ kind: "broken", answer: fail(told), isCopied: false });
    this.stop();
    end();
  }

  // ------------------------------------------------------------------------------------------------ the file's name

  private lookLater(): { cancel(): void } {
    return this.options.timer(lookMs, () => {
      if (!this.isOver && this.look()) this.looking = this.lookLater();
    });
  }

  /** False when the file is gone, and nothing may be answered any more. */
  private look(): boolean {
    this.lookedMono = this.options.clock.monoMs();
    const what = this.watch.look();
    if (what === null) return true;
    this.isOver = true;
    void this.rescue(what);
    return false;
  }

  private async rescue(what: string): Promise<void> {
    const { core, path, clock, post, end } = this.options;
    const { identity } = this.watch;
    const gone = (where: string) => fail(errors.STORE_FILE_GONE({ path, what, where }));
    const now = identity === null ? null : presentName(identity);
    const named = now === null || now === core.path ? "" : `it is now called ${now}, and `;
    const rescue = rescueStore({ core, now, at: clock.wallMs(), foldersOf: writableFolders });
    post({
      kind: "broken",
      answer: gone(`${named}what was acknowledged is being copied to ${rescue.first}`),
      isCopied: true,
    });
    const { copy, why } = await rescue.done;
    const where =
      copy === null
        ? `${named}what was acknowledged could not be copied (${why}): it is lost with this process unless the file is found`
        : `${named}everything that was acknowledged is in ${copy}`;
    post({ kind: "copied", answer: gone(where), isWhole: copy !== null });
    this.stop();
    end();
  }

  /** `isSound`: false where the file is no longer to be trusted. */
  private stop(isSound = false): void {
    this.isOver = true;
    this.looking.cancel();
    try {
      this.options.core.close(isSound);
    } catch {
      // The handles go with the thread, and the lock with them.
    }
  }
}
