// One call of send(), written to the ledger before it is made and once it is answered.
import type { Idem } from "./engine.ts";
import type { LedgerClient } from "./ledger-client.ts";
import { type AckedDecision, hashOf } from "./records.ts";
import { callOf, type Mix } from "./workload.ts";

export interface MadeCall {
  readonly eventCount: number;
  /** The runs it was answered with, each with the index of its event. */
  readonly runs: readonly (readonly [runId: string, index: number])[];
}

export async function makeCall(
  idem: Idem,
  ledger: LedgerClient,
  { seed, call, mix }: { readonly seed: number; readonly call: number; readonly mix?: Mix },
): Promise<MadeCall> {
  const events = callOf(seed, call, mix);
  ledger.tell(["try", call]);
  const { ids, decisions } = await idem.send(events);
  const hashes = events.map(({ data }) => hashOf(JSON.stringify(data)));
  const acked = decisions.map(({ eventId, function: fn, kind, runId }): AckedDecision => [eventId, fn, kind, runId]);
  await ledger.sure(["ack", Date.now(), call, ids, hashes, acked]);
  const runs = decisions.flatMap(({ eventId, runId }) =>
    runId === null ? [] : ([[runId, ids.indexOf(eventId)]] as const),
  );
  return { eventCount: ids.length, runs };
}
