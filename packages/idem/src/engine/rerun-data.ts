// A rerun with other data than the run's event has. It is about the same thing or it is no rerun: data that gives another key is refused,
// because the run would go past that key and under the destination keys of the old one.
import { deriveKey } from "../dedup/derive-key.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { errors } from "../model/errors.ts";
import { payloadOf, publicEventId } from "../model/event.ts";
import type { RunMemo } from "../store/leases.ts";
import type { Engine } from "./engine.ts";
import { limits } from "./limits.ts";

export interface OtherData {
  /** As it is stored. */
  readonly json: string;
  /** `none`: the function has no key; `missing`: neither the run nor the data has one; `other`: it is about something else. */
  readonly key: "none" | "same" | "missing" | "other";
  /** The key that the data gives, as canonical JSON; null for none. */
  readonly dataKey: string | null;
}

export async function judgeData(engine: Engine, { run, event, events }: RunMemo, data: unknown): Promise<OtherData> {
  if (events.length > 1) {
    throw errors.OPTION_INVALID({
      option: "data",
      why: `run ${run.id} carries a batch of ${events.length} events; rerun it as it is, or send other events`,
    });
  }
  const { name, ts, extra, sourceRunId } = event;
  const given = { name, data, ts, id: publicEventId(event) };
  await engine.checkEvent(given);
  const facts = { eventId: event.id, now: engine.now(), windowMs: 0, sourceRunId, allowReserved: true };
  const { data: json } = acceptEvent(given, "The rerun's event", facts, limits);
  const changed = { ...event, data: json };
  const config = engine.registry.get(run.fn)?.config.idempotency ?? null;
  const derived = deriveKey(config, { payload: payloadOf(changed), data: json, extra }, engine.expressions);
  if (derived.kind === "none") return { json, key: "none", dataKey: null };
  const dataKey = derived.kind === "key" ? derived.key : null;
  return { json, key: dataKey !== run.key ? "other" : dataKey === null ? "missing" : "same", dataKey };
}

/** The data to store; refused where it is about another thing. */
export async function dataOfRerun(engine: Engine, memo: RunMemo, data: unknown): Promise<string> {
  const { json, key, dataKey } = await judgeData(engine, memo, data);
  if (key === "other") {
    const { id: runId, key: runKey } = memo.run;
    throw errors.RERUN_OTHER_KEY({ runId, key: runKey ?? "none", dataKey: dataKey ?? "none" });
  }
  return json;
}
