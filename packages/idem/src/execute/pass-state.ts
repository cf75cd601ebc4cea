// The state that the parts of one pass share: the memo of the run, what is under way, and whether the pass is over.
import type { LogLevel } from "../model/log-line.ts";
import type { RunMemo } from "../store/leases.ts";
import { type HandingOut, HandOut } from "./hand-out.ts";
import { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";
import type { PassResult, RunPorts } from "./ports.ts";
import { LineCounter, Lines, type Said } from "./run-log.ts";
import { Unsaved } from "./unsaved.ts";

export class PassState {
  /** Its end; null until then. */
  result: PassResult | null = null;
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
  /** Called once, by the same turn that closed it. */
  onOver: ((result: PassResult) => void) | null = null;
  private closing: Promise<PassResult> | null = null;
  private whenIdle: (() => void)[] = none;
  private whenClosed: ((result: PassResult) => void)[] = none;
  /** Made when its signal is first read: most steps never do. */
  private abort: AbortController | null = null;

  constructor(
    memo: RunMemo,
    private readonly ports: Pick<RunPorts, "stepId" | "isOpenElsewhere" | "soon" | "now" | "room">,
    pass: HandingOut,
  ) {
    this.memo = new Memo(memo, ports);
    this.handOut = new HandOut(this.memo, ports, pass);
  }

  get isClosed(): boolean {
    return this.result !== null;
  }

  /** For those who await its end: for most passes `onOver` is called instead. */
  get closed(): Promise<PassResult> {
    if (this.result !== null) return Promise.resolve(this.result);
    this.closing ??= new Promise((resolve) => this.onClosed(resolve));
    return this.closing;
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

  /** Reports what this run keeps of the process's memory. */
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
    this.result = result;
    this.handOut.stop();
    if (this.running > 0) this.abort?.abort(new Error(result.kind === "lost" ? result.why : "the run is over"));
    for (const run of this.whenClosed) run(result);
    this.tellIdle();
    this.onOver?.(result);
  }

  /** To be done once the pass is over, at once. */
  onClosed(run: (result: PassResult) => void): void {
    if (this.whenClosed.length === 0) this.whenClosed = [run];
    else this.whenClosed.push(run);
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
    const waited = this.whenIdle;
    this.whenIdle = none;
    for (const resolve of waited) resolve();
  }

  /** Resolves once no attempt and no commit is under way. */
  idle(): Promise<void> {
    if (this.running === 0 || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      if (this.whenIdle.length === 0) this.whenIdle = [resolve];
      else this.whenIdle.push(resolve);
    });
  }
}

// Never pushed to: where there is none, the first makes a list.
const none: never[] = [];
