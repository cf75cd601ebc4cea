// The functions under test. Each tells the ledger what it enters and what it is given back; each step's value carries chance,
// so that a body run twice cannot give the same value twice.
import { randomBytes } from "node:crypto";
import { flakyRetries, tireless } from "./answers.ts";
import type { Idem } from "./engine.ts";
import type { LedgerClient } from "./ledger-client.ts";
import { hashOf, type Work } from "./records.ts";

interface StepValue {
  readonly answer: number;
  readonly nonce: string;
}

/** The ledger's name for a value that code was given: of the JSON the store would keep. */
export const valueHash = (value: unknown): string => hashOf(JSON.stringify(value ?? null));
export const errorHash = (error: unknown): string => hashOf(`error ${(error as Error).message}`);

// Far behind the end of any torture.
const patience = "1d";
const unansweredMs = 60;

export interface Attempt {
  readonly key: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface Tools {
  readonly runId: string;
  readonly step: any;
}

/** Steps that tell the ledger what is entered and what the code is given. */
export function tellingSteps(ledger: LedgerClient, isLate = () => false) {
  const told = async <T>(runId: string, name: string, given: Promise<T>): Promise<T> => {
    try {
      const value = await given;
      ledger.tell(["value", Date.now(), runId, name, valueHash(value)]);
      return value;
    } catch (error) {
      ledger.tell(["value", Date.now(), runId, name, errorHash(error)]);
      throw error;
    }
  };
  /** To be called before anything else is done in a step. */
  const enter = (runId: string, name: string, { attempt, key }: Attempt, work?: Work): Promise<void> => {
    const at = Date.now();
    const entry = ["enter", at, runId, name, attempt, key] as const;
    const entered = ledger.sure(work === undefined ? entry : [...entry, work]);
    if (isLate()) ledger.tell(["late", runId, name]);
    return entered;
  };
  const compute = ({ runId, step }: Tools, name: string, body: (attempt: number) => number): Promise<StepValue> =>
    told(
      runId,
      name,
      step.run(name, async (facts: Attempt) => {
        await enter(runId, name, facts);
        return { answer: body(facts.attempt), nonce: nonce() };
      }),
    );
  return { told, enter, compute };
}

export type TellingSteps = ReturnType<typeof tellingSteps>;

export const nonce = (): string => randomBytes(6).toString("hex");

export function defineFunctions(
  idem: Idem,
  ledger: LedgerClient,
  { told, compute }: TellingSteps = tellingSteps(ledger),
): void {
  idem.createFunction(
    { id: "fulfil", retries: 0, ...tireless, idempotency: "event.data.order" },
    { event: "order/paid" },
    async ({ event, ...tools }) => {
      const { order } = event.data;
      const reserved = await compute(tools, "reserve", () => order + 1);
      const charged = await compute(tools, "charge", () => reserved.answer + order + 2);
      const { step, runId } = tools;
      await told(runId, "receipt", step.sendEvent("receipt", { name: "receipt/made", data: { order } }));
      const shipped = await compute(tools, "ship", () => charged.answer + order + 3);
      return { order, total: shipped.answer };
    },
  );

  idem.createFunction(
    { id: "receipt", retries: 0, ...tireless },
    { event: "receipt/made" },
    async ({ event, ...tools }) => {
      const { answer } = await compute(tools, "print", () => event.data.order);
      return { receiptOf: answer };
    },
  );

  idem.createFunction({ id: "fan", retries: 0, ...tireless }, { event: "fan/go" }, async ({ event, ...tools }) => {
    const parts = await Promise.all([0, 1, 2].map((n) => compute(tools, `part-${n}`, () => event.data.number + n)));
    return { sum: parts.reduce((total, { answer }) => total + answer, 0) };
  });

  idem.createFunction(
    { id: "flaky", retries: flakyRetries, ...tireless, backoff: (attempt) => attempt * 7 },
    { event: "flaky/go" },
    async ({ event, ...tools }) => {
      const { number, failures } = event.data;
      const { answer } = await compute(tools, "try", (attempt) => {
        if (attempt <= failures) throw new Error(`attempt ${attempt} of ${number} fails as planned`);
        return attempt;
      });
      return { number, attempts: answer };
    },
  );

  idem.createFunction({ id: "nap", retries: 0, ...tireless }, { event: "nap/go" }, async ({ event, ...tools }) => {
    const { number, ms } = event.data;
    await compute(tools, "before", () => number);
    // Surely: on a busy machine a line may wait in this process and die with it, and the next life's would count as the first.
    await ledger.sure(["asked-sleep", Date.now(), tools.runId, ms]);
    await tools.step.sleep("nap", ms);
    ledger.tell(["woke", Date.now(), tools.runId]);
    await compute(tools, "after", () => number);
    return { number };
  });

  idem.createFunction(
    { id: "ticket", retries: 0, ...tireless },
    { event: "ticket/opened" },
    async ({ event, step, runId }) => {
      const { ticket, isAnswered } = event.data;
      const approval = await told(
        runId,
        "approval",
        step.waitForEvent("approval", {
          event: "approval/given",
          match: "data.ticket",
          timeout: isAnswered ? patience : unansweredMs,
        }),
      );
      return { ticket, isApproved: approval !== null };
    },
  );

  const twice = idem.createFunction({ id: "twice", retries: 0, ...tireless }, [], async ({ event, ...tools }) => {
    return (await compute(tools, "multiply", () => event.data.number * 2)).answer;
  });

  idem.createFunction(
    { id: "double", retries: 0, ...tireless },
    { event: "double/go" },
    async ({ event, step, runId }) => {
      const { number } = event.data;
      const doubled = await told(runId, "ask", step.invoke("ask", { function: twice, data: { number } }));
      return { doubled };
    },
  );

  // Works until it is cancelled, or sleeps where nobody cancelled it in time.
  idem.createFunction({ id: "long", retries: 0, ...tireless }, { event: "long/go" }, async ({ event, ...tools }) => {
    for (let lap = 0; lap < 100; lap++) await compute(tools, `lap-${lap}`, () => event.data.number);
    await tools.step.sleep("too-long", patience);
  });
}
