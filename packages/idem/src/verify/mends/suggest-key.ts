// The key a function should have, from one event and its twin, each delivered twice: chosen as the radar chooses it from a week of real ones.
import { findDoubledRuns, type StartedRun } from "../../radar/doubled-runs.ts";
import type { Json } from "../thing.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const nearMs = 60_000;

export async function suggestKey(fn: string, name: string, data: Json, twin: Json): Promise<string | null> {
  const started = [data, data, twin, twin].map((each, i): StartedRun => {
    // Each twice within the minute, the twin an hour later.
    const at = i * 1_000 + (i > 1 ? 60 * nearMs : 0);
    const event = {
      id: `event-${i}`,
      callerId: null,
      name,
      data: JSON.stringify(each),
      ts: at,
      extra: null,
      receivedAt: at,
      firstEventId: null,
      sourceRunId: null,
    };
    return { runId: `run-${i}`, key: null, createdAt: at, event };
  });
  const options = { nearMs, windowMs: dayMs, runsMax: started.length };
  const { byField } = await findDoubledRuns({ name: fn, keyExpression: null }, started, options);
  return byField?.expression ?? null;
}
