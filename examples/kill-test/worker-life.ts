// A worker process as the test holds it: started, watched by the lines it writes, ended by a signal.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";

const file = fileURLToPath(new URL("./worker.mjs", import.meta.url));

export interface Task {
  readonly folder: string;
  readonly seed: number;
  readonly life: number;
  /** From the step entered after this many, all steps hang; null for never. */
  readonly stallAfter: number | null;
  /** How many webhooks it receives before it waits for its runs and ends; null for no end. */
  readonly deliveriesMax: number | null;
}

export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it complained of; that it goes on with what a killed one had is no complaint. */
  readonly errors: string;
}

const isTakeover = (line: string): boolean =>
  / is taken over: /.test(line) || /more warnings and errors were not written/.test(line);

export class WorkerLife {
  readonly ended: Promise<End>;
  private readonly child: ChildProcess;
  private readonly deliveriesBefore: number;
  private isStarted = false;
  private hasEnded = false;

  constructor(private readonly task: Task) {
    this.deliveriesBefore = this.deliveryLines();
    const given = { ...task, stallAfter: task.stallAfter ?? 1e9, deliveriesMax: task.deliveriesMax ?? 1e9 };
    this.child = fork(file, [JSON.stringify(given)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    let errors = "";
    this.child.stderr!.on("data", (chunk) => {
      errors += chunk;
    });
    this.child.on("message", () => {
      this.isStarted = true;
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("close", (code, signal) => {
        this.hasEnded = true;
        const complaints = errors.split("\n").filter((line) => !isTakeover(line));
        resolve({ code, signal, errors: complaints.join("\n") });
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Resolves with how it ended, which is by this signal unless it was faster. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<End> {
    this.child.kill(signal);
    return this.ended;
  }

  untilStarted(): Promise<void> {
    return this.until("it has started", () => this.isStarted);
  }

  /** Until this life has written so many lines of this kind. */
  untilEffects(what: string, count: number): Promise<void> {
    const isOurs = (line: string) => line.startsWith(what) && line.endsWith(` ${this.task.life}`);
    return this.until(`it has written ${count} lines "${what}"`, () => {
      return linesOf(join(this.task.folder, "effects.txt")).filter(isOurs).length >= count;
    });
  }

  /** Until this process has written so many lines about deliveries: that one begins, or that it was acknowledged. */
  untilDeliveries(count: number): Promise<void> {
    return this.until(`it has written ${count} lines about deliveries`, () => {
      return this.deliveryLines() - this.deliveriesBefore >= count;
    });
  }

  private deliveryLines(): number {
    return linesOf(join(this.task.folder, "sends.txt")).length;
  }

  private async until(fact: string, isTrue: () => boolean): Promise<void> {
    const hasHappened = () => expect(isTrue() || this.hasEnded, `the worker was waited for until ${fact}`).toBe(true);
    await vi.waitFor(hasHappened, { timeout: 120_000, interval: 1 });
    if (!isTrue()) throw new Error(`The worker ended before ${fact}: ${JSON.stringify(await this.ended)}`);
  }
}

export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
