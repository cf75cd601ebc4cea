// Which calls go together. What a batch could not do for one of them is done for it alone, by the code that knows every case.
import { errors } from "../../model/errors.ts";
import type { Platform } from "../../platform/platform.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput } from "../advance.ts";
import type { Ingested, IngestInput, StaleRegistration } from "../ingest.ts";
import { onlyStep } from "../rules/advance-run.ts";
import { resumeWaits } from "../rules/resume-waits.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { ResumeAnswer, ResumeInput } from "../waits.ts";
import { advanceRun } from "./advance-run.ts";
import { Batches } from "./batches.ts";
import type { Connection } from "./connection.ts";
import type { ClockBounds } from "./database-clock.ts";
import { endAwaitedRuns, endRuns, isPlainEnd } from "./end-runs.ts";
import { ingestBatch, ingestCall, registrationsOf } from "./ingest-batch.ts";
import { invokeRuns, onlyInvoke } from "./invoke-runs.ts";
import type { Statistics } from "./refresh-statistics.ts";
import { isForFew, resumeRuns } from "./resume-runs.ts";
import { saveSteps } from "./save-steps.ts";
import { onlyWait, suspendRuns } from "./suspend-runs.ts";
import type { Transactions } from "./transactions.ts";

// A call with more events than this is a commit of its own.
const eventsOfCallMax = 100;
// Refused before acceptance, never made to wait: a queue without a bound is a slow way to run out of memory.
const queuedCallsMax = 10_000;

/** Calls that go alone, by name: as many may wait as in a batch. */
export class LoneCalls {
  private readonly waiting = new Map<string, number>();

  constructor(private readonly waitingMax: number = queuedCallsMax) {}

  async call<T>(name: string, run: () => Promise<T>): Promise<T> {
    const waiting = this.waiting.get(name) ?? 0;
    if (waiting >= this.waitingMax) throw errors.STORE_BUSY({ queued: waiting });
    this.waiting.set(name, waiting + 1);
    try {
      return await run();
    } finally {
      this.waiting.set(name, this.waiting.get(name)! - 1);
    }
  }
}

type Together = (inputs: readonly AdvanceInput[]) => Promise<readonly (Advanced | null)[]>;

/** What a statement that is a transaction by itself did for the calls. */
interface Done {
  readonly now: number | null;
  readonly answers: readonly (Advanced | null)[];
}

export class HotCalls {
  private readonly ingests: Batches<IngestInput, Ingested | StaleRegistration>;
  private readonly saves: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly ends: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly suspensions: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly invokes: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly resumes: Batches<ResumeInput, ResumeAnswer>;

  constructor(
    connection: Connection,
    private readonly transactions: Transactions,
    private readonly statistics: Pick<Statistics, "stored">,
    private readonly options: { readonly platform: Pick<Platform, "soon">; readonly wallMs?: () => number },
  ) {
    const { platform } = options;
    const { clock } = transactions;
    this.ingests = new Batches(
      platform,
      (inputs) =>
        transactions.runWith(
          (connection) => registrationsOf(connection, inputs),
          (tx, registrations) => ingestBatch(tx, inputs, registrations),
        ),
      (input) => transactions.run((tx) => ingestCall(tx, input)),
    );
    const alone = (input: AdvanceInput) => transactions.run((tx) => advanceRun(tx, input));
    const advances = (together: Together) =>
      new Batches<AdvanceInput, AdvanceAnswer>(
        platform,
        async (inputs) => {
          const answers = await together(inputs);
          return Promise.all(answers.map((answer, i) => answer ?? alone(inputs[i]!)));
        },
        alone,
      );
    this.saves = advances(async (inputs) => {
      const saved = await this.inOneStatement((bounds) => saveSteps(connection, inputs, bounds, () => clock.stamp()));
      return saved?.answers ?? inputs.map(() => null);
    });
    this.ends = advances(async (inputs) => {
      const ended = await this.inOneStatement((bounds) => endRuns(connection, inputs, bounds));
      if (ended === null || ended.awaited.length === 0) return ended?.answers ?? inputs.map(() => null);
      const awaited = ended.awaited.map((n) => inputs[n]!);
      const answers = [...ended.answers];
      const more = await transactions.run((tx) => endAwaitedRuns(tx, awaited));
      for (const [i, n] of ended.awaited.entries()) answers[n] = more[i]!;
      return answers;
    });
    this.suspensions = advances((inputs) => transactions.run((tx) => suspendRuns(tx, inputs)));
    this.invokes = advances((inputs) =>
      transactions.runWith(
        (connection) => registrationsOf(connection, inputs),
        (tx, registrations) => invokeRuns(tx, inputs, registrations),
      ),
    );
    this.resumes = new Batches(
      platform,
      (inputs) => transactions.run((tx) => resumeRuns(tx, inputs)),
      (input) => transactions.run((tx) => driveAwaited(resumeWaits(tx, input))),
    );
  }

  /** Null for a call that goes alone. */
  take(name: string, input: readonly unknown[]): Promise<unknown> | null {
    if (name === "ingest") {
      const call = input[0] as IngestInput;
      this.statistics.stored(call.events.length);
      return call.events.length > eventsOfCallMax ? null : this.add(this.ingests, call);
    }
    if (name === "resume") {
      const call = input[0] as ResumeInput;
      return isForFew(call) ? this.add(this.resumes, call) : null;
    }
    if (name !== "advance") return null;
    const call = input[0] as AdvanceInput;
    if (onlyStep(call) !== null) return this.add(this.saves, call);
    if (onlyWait(call) !== null) return this.add(this.suspensions, call);
    if (onlyInvoke(call) !== null) return this.add(this.invokes, call);
    return isPlainEnd(call) ? this.add(this.ends, call) : null;
  }

  private add<I, A>(batches: Batches<I, A>, input: I): Promise<A> {
    if (batches.waiting >= queuedCallsMax) return Promise.reject(errors.STORE_BUSY({ queued: batches.waiting }));
    return batches.call(input);
  }

  /** A statement that is a transaction by itself; null where this node has no clock for one. */
  private async inOneStatement<D extends Done>(ask: (bounds: ClockBounds) => Promise<D>): Promise<D | null> {
    const { clock } = this.transactions;
    const bounds = clock.bounds(this.options.wallMs?.() ?? null);
    if (bounds === null) return null;
    const done = await this.transactions.untilKnown(() => ask(bounds));
    if (done.now !== null) clock.saw(done.now, bounds);
    return done;
  }
}
