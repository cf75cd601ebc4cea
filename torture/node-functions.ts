// Functions for several processes over one store: work that takes its time, so that a process is lost in the middle of
// it; work with limits; and a schedule.
import { chainLinks, laneMax, lanesMax, tireless } from "./answers.ts";
import type { Idem } from "./engine.ts";
import { type Attempt, nonce, type TellingSteps, type Tools } from "./functions.ts";
import type { LedgerClient } from "./ledger-client.ts";

export interface NodeFunctionsOptions {
  readonly steps: TellingSteps;
  /** So many are in the middle of work without limits, which another process would take up as soon as it may. */
  readonly onWorking: (count: number) => void;
}

export function defineNodeFunctions(idem: Idem, ledger: LedgerClient, options: NodeFunctionsOptions): void {
  const { onWorking } = options;
  const { told, enter, compute } = options.steps;
  let working = 0;

  const work = ({ runId, step }: Tools, name: string, ms: number, lane: string | null) =>
    told(
      runId,
      name,
      step.run(name, async (attempt: Attempt) => {
        const entered = enter(runId, name, attempt, { lane });
        const count = (by: number) => {
          if (lane === null) working += by;
          onWorking(working);
        };
        count(1);
        const stopped = leave(attempt.signal, () => {
          ledger.tell(["left", Date.now(), runId]);
          count(-1);
        });
        await entered;
        await stopped.orAfter(ms);
        return nonce();
      }),
    );

  idem.createFunction({ id: "slow", retries: 0, ...tireless }, { event: "slow/go" }, async ({ event, ...tools }) => {
    const { number, ms } = event.data;
    await work(tools, "work", ms, null);
    await compute(tools, "after", () => number);
    return { number };
  });

  // A process that still believes it has such a run, and has not, is soon found out.
  idem.createFunction({ id: "chain", retries: 0, ...tireless }, { event: "chain/go" }, async ({ event, ...tools }) => {
    const { number, ms } = event.data;
    for (let link = 0; link < chainLinks; link++) await work(tools, `link-${link}`, ms, null);
    return { number, links: chainLinks };
  });

  idem.createFunction(
    {
      id: "capped",
      retries: 0,
      ...tireless,
      concurrency: [{ limit: laneMax, key: "event.data.lane" }, { limit: lanesMax }],
    },
    { event: "capped/go" },
    async ({ event, ...tools }) => {
      const { number, ms, lane } = event.data;
      await work(tools, "work", ms, lane);
      return { number, lane };
    },
  );

  idem.createFunction({ id: "clock", retries: 0, ...tireless }, { cron: "* * * * *" }, async ({ event, ...tools }) => {
    await compute(tools, "tick", () => 1);
    return { at: event.data.scheduledAt };
  });
}

/** Says so when the work is over, or at the very moment its signal aborts: the next process may begin right then. */
function leave(signal: AbortSignal, say: () => void): { orAfter(ms: number): Promise<void> } {
  let over = () => {};
  const left = new Promise<void>((resolve) => {
    over = resolve;
  });
  const stop = () => {
    signal.removeEventListener("abort", stop);
    say();
    over();
  };
  signal.addEventListener("abort", stop);
  return {
    orAfter: (ms) => {
      const timer = setTimeout(stop, ms);
      return left.finally(() => clearTimeout(timer));
    },
  };
}
