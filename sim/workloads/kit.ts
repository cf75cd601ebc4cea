// The tools of workload functions: steps that write to the ledger when they are entered, when they are left and when
// their value reaches the code. Each entry returns a value of its own, so two executions of one step can be told apart.
import type { EventLoop } from "../event-loop.ts";
import type { Entry, Ledger } from "../ledger.ts";
import type { SimProcess } from "../platform.ts";
import type { Random } from "../random.ts";

export interface Context {
  readonly event: any;
  readonly events: readonly any[];
  readonly step: any;
  readonly runId: string;
  readonly attempt: number;
}

export interface KitOptions {
  readonly loop: EventLoop;
  readonly ledger: Ledger;
  readonly process: SimProcess;
  readonly random: Random;
  readonly storeNow: () => number;
  readonly trace: (what: string) => void;
  /** As process.exit does. */
  readonly endProcess: (why: string) => void;
  /** The process has entered the first step of its life, and is in it. */
  readonly onFirstStep: () => void;
}

export interface StepOptions {
  /** Fails this many attempts before it succeeds. */
  readonly failures?: number;
  readonly takesMs?: number;
  /** Its body ends the process it runs in, each time. */
  readonly endsProcess?: boolean;
}

export class Kit {
  private hasEntered = false;

  constructor(private readonly options: KitOptions) {}

  /** A step.run whose body is watched. */
  async run(context: Context, fn: string, step: string, options: StepOptions = {}): Promise<unknown> {
    const value = await context.step.run(step, async ({ key, attempt }: { key: string; attempt: number }) => {
      const entry = this.enter(context.runId, fn, step, attempt, key);
      if (options.endsProcess === true) {
        if (this.options.process.alive) this.options.endProcess(`is ended by ${step} of ${context.runId}`);
        await new Promise(() => {});
      }
      await this.work(options.takesMs ?? this.shortWhile());
      if (attempt <= (options.failures ?? 0)) {
        this.leave(entry, "threw", `failure ${attempt}`);
        throw new Error(`failure ${attempt} of ${step}`);
      }
      const made = { step, entry: entry.order };
      this.leave(entry, "returned", JSON.stringify(made));
      return made;
    });
    return this.handed(context, step, value);
  }

  /** A step of another kind reached the code. */
  handed<T>(context: Context, step: string, value: T): T {
    const { process, ledger, loop } = this.options;
    if (process.alive) {
      ledger.handed.push({
        order: nextOrder(ledger),
        at: loop.now,
        run: context.runId,
        step,
        process: process.name,
        value: JSON.stringify(value ?? null),
      });
    }
    return value;
  }

  async sleep(context: Context, step: string, ms: number): Promise<void> {
    await this.timed(context, step, ms, () => context.step.sleep(step, ms));
    this.handed(context, step, null);
  }

  /** Notes when a wait of at least `ms` was asked for and when it was over; `isOver` says whether by its time. */
  async timed<T>(
    context: Context,
    step: string,
    ms: number,
    wait: () => Promise<T>,
    isOver: (value: T) => boolean = () => true,
  ): Promise<T> {
    const { process, ledger, loop, storeNow } = this.options;
    let slept = ledger.slept.find((other) => other.run === context.runId && other.step === step);
    if (slept === undefined) {
      slept = { run: context.runId, step, ms, askedAt: loop.now, askedStoreAt: storeNow(), overAt: null };
      if (process.alive) ledger.slept.push(slept);
    }
    const value = await wait();
    if (process.alive && slept.overAt === null && isOver(value)) slept.overAt = loop.now;
    return value;
  }

  private enter(run: string, fn: string, step: string, attempt: number, key: string): Entry {
    const { process, ledger, loop } = this.options;
    const entry: Entry = {
      order: nextOrder(ledger),
      at: loop.now,
      run,
      fn,
      step,
      process: process.name,
      attempt,
      key,
      left: null,
    };
    // A process that crashed in this very turn does nothing any more.
    if (process.alive) {
      ledger.entries.push(entry);
      this.options.trace(`enter ${run} ${step} attempt ${attempt}`);
      if (!this.hasEntered) this.options.onFirstStep();
      this.hasEntered = true;
    }
    return entry;
  }

  private leave(entry: Entry, how: "returned" | "threw", value: string): void {
    if (this.options.process.alive) entry.left = { how, at: this.options.loop.now, value };
  }

  private work(ms: number): Promise<void> {
    const { loop, process } = this.options;
    return new Promise((resolve) => loop.schedule(ms, resolve, process));
  }

  private shortWhile(): number {
    const { random } = this.options;
    return random.chance(0.1) ? random.between(500, 8_000) : random.between(0, 20);
  }
}

const nextOrder = (ledger: Ledger): number => ledger.entries.length + ledger.handed.length;
