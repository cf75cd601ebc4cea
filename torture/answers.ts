// The right answers, known without asking the engine.

/** A step of flaky/go may fail this often before the run fails. */
/** Processes are killed as often as it takes: no run is left to a person for it, and none is put off. */
export const tireless = { entries: { max: 1_000, delay: 0 } } as const;

export const flakyRetries = 3;

/** The steps of a run of chain/go, one after the other. */
export const chainLinks = 10;

/** The most runs of capped/go at work in one lane, and in all. */
export const laneMax = 2;
export const lanesMax = 4;

/** The event of a schedule's instant; it has one every minute. */
export const tickName = "inngest/scheduled.timer";
export const tickEveryMs = 60_000;

export interface Answer {
  /** The function the event reaches. */
  readonly fn: string;
  readonly state: "completed" | "failed" | "cancelled";
  /** Of a completed run. */
  readonly output: unknown;
}

export function answerTo(name: string, data: Record<string, any>): Answer {
  const completed = (fn: string, output: unknown): Answer => ({ fn, state: "completed", output });
  switch (name) {
    case "order/paid":
      return completed("fulfil", { order: data.order, total: data.order * 3 + 6 });
    case "receipt/made":
      return completed("receipt", { receiptOf: data.order });
    case "fan/go":
      return completed("fan", { sum: data.number * 3 + 3 });
    case "flaky/go":
      return data.failures > flakyRetries
        ? { fn: "flaky", state: "failed", output: null }
        : completed("flaky", { number: data.number, attempts: data.failures + 1 });
    case "nap/go":
      return completed("nap", { number: data.number });
    case "ticket/opened":
      return completed("ticket", { ticket: data.ticket, isApproved: data.isAnswered });
    case "double/go":
      return completed("double", { doubled: data.number * 2 });
    case "inngest/function.invoked":
      return completed("twice", data.number * 2);
    case "slow/go":
      return completed("slow", { number: data.number });
    case "chain/go":
      return completed("chain", { number: data.number, links: chainLinks });
    case "capped/go":
      return completed("capped", { number: data.number, lane: data.lane });
    case tickName:
      return completed("clock", { at: data.scheduledAt });
    case "long/go":
      return { fn: "long", state: "cancelled", output: null };
    default:
      throw new Error(`No function is known to answer ${name}`);
  }
}
