// What the parts of one pass share: what is known of the run, what is under way, and whether the pass is over.
import type { LogLevel } from "../model/log-line.ts";
import type { RunMemo } from "../store/leases.ts";
import { HandOut } from "./hand-out.ts";
import { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";
import type { PassResult, RunPorts } from "./ports.ts";
import { LineCounter, Lines, type Said } from "./run-log.ts";
import { Unsaved } from "./unsaved.ts";

export class PassState {
  readonly closed: Promise<PassResult>;
  isClosed = false;
  readonly memo: Memo;
  readonly handOut: HandOut;
  readonly unsaved = new Unsaved();
  /** Of the code between steps. */
  readonly lines = new Lines();
  /** Attempts and commits that must be over before the run may be given back. */
  running = 0;
  /** Of these: attempts. */
  attempting = 0;
  /** An attempt came to its end: whatever begins from here on is entered for the first time. */
  hasFailed = false;
  /** Nothing begins until it opens; a cancel that is being committed holds it. */
  gate: Promise<unknown> | null = null;
  /** Bytes of values that are on their way into the store. */
  private bytesComing = 0;
  private readonly counter = new LineCounter();
  private tellClosed!: (result: PassResult) => void;
  private whenIdle: (() => void)[] = [];
  private readonly whenClosed: (() => void)[] = [];
  /** Made when somebody asks for its signal: most steps never do. */
  private abort: AbortController | null = null;

  constructor(
    memo: RunMemo,
    private readonly ports: Pick<RunPorts, "stepId" | "isOpenElsewhere" | "soon" | "now" | "room">,
    onHandedOut: () => void,
  ) {
    this.memo = new Memo(memo, ports);
    this.handOut = new HandOut(this.memo, ports, onHandedOut);
    this.closed = new Promise((resolve) => {
      this.tellClosed = resolve;
    });
  }

  get open(): Map<string, Op> {
    return this.handOut.open;
  }

  /** Of all outcomes, those on their way included. */
  get bytes(): number {
    return this.memo.bytes + this.bytesComing;
  }

  /** Of a value that is on its way into the store; less than none once it is there, or will not be. */
  comes(bytes: number): void {
    this.bytesComing += bytes;
    this.weigh();
  }

  /** Whoever looks after the process's memory learns what this run keeps of it. */
  weigh(): void {
    this.ports.room?.set(this.bytes, this.attempting);
  }

  said(level: LogLevel, args: readonly unknown[], attempt: number): Said {
    return { level, args, attempt, at: this.ports.now(), n: this.counter.next() };
  }

  /** Aborts when the run is cancelled or lost. */
  get signal(): AbortSignal {
    this.abort ??= new AbortController();
    return this.abort.signal;
  }

  close(result: PassResult): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.handOut.stop();
    if (this.running > 0) this.abort?.abort(new Error(result.kind === "lost" ? result.why : "the run is over"));
    for (const run of this.whenClosed) run();
    this.tellIdle();
    this.tellClosed(result);
  }

  /** To be done once the pass is over, at once. */
  onClosed(run: () => void): void {
    this.whenClosed.push(run);
  }

  giveUp(why: string): void {
    this.close({ kind: "lost", why });
  }

  enter(): void {
    this.running++;
  }

  leave(): void {
    this.running--;
    if (this.running === 0) this.tellIdle();
  }

  private tellIdle(): void {
    if (this.whenIdle.length === 0) return;
    for (const resolve of this.whenIdle.splice(0)) resolve();
  }

  /** Resolves once no attempt and no commit is under way. */
  idle(): Promise<void> {
    if (this.running === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenIdle.push(resolve);
    });
  }
}
