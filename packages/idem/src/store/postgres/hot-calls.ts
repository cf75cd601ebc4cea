// Which calls go together. What a batch could not do for one of them is done for it alone, by the code that knows every case.
import { errors } from "../../model/errors.ts";
import type { Platform } from "../../platform/platform.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput } from "../advance.ts";
import type { Ingested, IngestInput, StaleRegistration } from "../ingest.ts";
import { onlyStep } from "../rules/advance-run.ts";
import { advanceRun } from "./advance-run.ts";
import { Batches } from "./batches.ts";
import type { Connection } from "./connection.ts";
import type { ClockBounds } from "./database-clock.ts";
import { endRuns, isPlainEnd } from "./end-runs.ts";
import { ingestBatch, ingestCall, registrationsOf } from "./ingest-batch.ts";
import type { Statistics } from "./refresh-statistics.ts";
import { saveSteps } from "./save-steps.ts";
import { onlyWait, suspendRuns } from "./suspend-runs.ts";
import type { Transactions } from "./transactions.ts";

// A call with more events than this is a commit of its own.
const eventsOfCallMax = 100;
// Refused before acceptance, never made to wait: a queue without a bound is a slow way to run out of memory.
const queuedCallsMax = 10_000;

type Together = (inputs: readonly AdvanceInput[]) => Promise<readonly (Advanced | null)[]>;
type ByItself = (inputs: readonly AdvanceInput[], bounds: ClockBounds) => ReturnType<typeof endRuns>;

export class HotCalls {
  private readonly ingests: Batches<IngestInput, Ingested | StaleRegistration>;
  private readonly saves: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly ends: Batches<AdvanceInput, AdvanceAnswer>;
  private readonly suspensions: Batches<AdvanceInput, AdvanceAnswer>;

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
    const byItself = (statement: ByItself) =>
      advances((inputs) => this.inOneStatement(inputs, (bounds) => statement(inputs, bounds)));
    this.saves = byItself((inputs, bounds) => saveSteps(connection, inputs, bounds, () => clock.stamp()));
    this.ends = byItself((inputs, bounds) => endRuns(connection, inputs, bounds));
    this.suspensions = advances((inputs) => transactions.run((tx) => suspendRuns(tx, inputs)));
  }

  /** Null for a call that goes alone. */
  take(name: string, input: readonly unknown[]): Promise<unknown> | null {
    if (name === "ingest") {
      const call = input[0] as IngestInput;
      this.statistics.stored(call.events.length);
      return call.events.length > eventsOfCallMax ? null : this.add(this.ingests, call);
    }
    if (name !== "advance") return null;
    const call = input[0] as AdvanceInput;
    if (onlyStep(call) !== null) return this.add(this.saves, call);
    if (onlyWait(call) !== null) return this.add(this.suspensions, call);
    return isPlainEnd(call) ? this.add(this.ends, call) : null;
  }

  private add<I, A>(batches: Batches<I, A>, input: I): Promise<A> {
    if (batches.waiting >= queuedCallsMax) return Promise.reject(errors.STORE_BUSY({ queued: batches.waiting }));
    return batches.call(input);
  }

  /** A statement that is a transaction by itself. */
  private async inOneStatement(
    inputs: readonly AdvanceInput[],
    ask: (bounds: ClockBounds) => ReturnType<typeof endRuns>,
  ): Promise<readonly (Advanced | null)[]> {
    const { clock } = this.transactions;
    const bounds = clock.bounds(this.options.wallMs?.() ?? null);
    if (bounds === null) return inputs.map(() => null);
    const { now, answers } = await this.transactions.untilKnown(() => ask(bounds));
    if (now !== null) clock.saw(now, bounds);
    return answers;
  }
}
