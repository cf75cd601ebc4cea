// A client of one run: does for it what its function needs from outside, and tells the ledger its end.
import { setTimeout as delay } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import type { Idem } from "./engine.ts";
import { valueHash } from "./functions.ts";
import type { LedgerClient } from "./ledger-client.ts";
import { hashOf } from "./records.ts";
import type { Sent } from "./workload.ts";

export interface WatchOptions {
  readonly idem: Idem;
  readonly ledger: LedgerClient;
  readonly chance: Chance;
  /** A client's way to ask: once, or until the store can be reached. */
  readonly ask: <T>(question: () => Promise<T>) => Promise<T>;
  /** The pause before an answer that was not heard is given again. */
  readonly pauseMs: (tries: number) => number;
}

export async function watchRun(options: WatchOptions, runId: string, event: Sent): Promise<void> {
  const { idem, ledger, chance, ask, pauseMs } = options;
  let isOver = false;
  const ended = ask(() => idem.runs.wait(runId)).finally(() => {
    isOver = true;
  });
  if (event.name === "long/go") {
    await delay(chance.int(1, 60));
    const { cancelled } = await ask(() => idem.runs.cancel(runId));
    await ledger.sure(["cancel", runId, cancelled]);
  }
  if (event.name === "ticket/opened" && event.data.isAnswered) {
    // An event that comes before anyone waits does not count, so the answer is given until it is heard.
    for (let tries = 1; !isOver; tries++) {
      await approve(options, event.data.ticket);
      await Promise.race([ended, delay(pauseMs(tries))]);
    }
  }
  const { state, output } = await ended;
  ledger.tell(["end", runId, state, valueHash(output)]);
}

async function approve({ idem, ledger, ask }: WatchOptions, ticket: number): Promise<void> {
  const data = { ticket };
  const { ids } = await ask(() => idem.send({ name: "approval/given", data }));
  await ledger.sure(["ack-other", Date.now(), ids[0]!, hashOf(JSON.stringify(data))]);
}
