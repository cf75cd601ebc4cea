// The way ahead of an event or a run, by the newest configuration of its function.

import { laneLimits, planLane, readLane } from "../flow/lane.ts";
import { gatheredAs, planFlow } from "../flow/plan.ts";
import { sharedKeyOf } from "../flow/plan-keys.ts";
import { type Decision, isGatheredKind } from "../model/decision.ts";
import { type Event, payloadOf } from "../model/event.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { isEnded, type Run } from "../model/run.ts";
import type { CancelOutlook, LimitInLine, Outlook, PendingBuffer } from "../observe/outlook.ts";
import type { Engine } from "./engine.ts";

// The most waited for come first, and a run in line is asked about because its limit is among them.
const limitsRead = 10_000;

export const outlookOf = (engine: Engine): Outlook => ({
  buffer: (event, decision) => bufferOf(engine, event, decision),
  line: (run, event) => lineOf(engine, run, event),
  cancels: (run) => cancelsOf(engine, run),
});

async function bufferOf(engine: Engine, event: Event, { fn, kind }: Decision): Promise<PendingBuffer | null> {
  const { store, env, expressions } = engine;
  if (!isGatheredKind(kind)) return null;
  const config = await configOf(engine, fn);
  if (config === null) return null;
  const rule =
    planFlow({ env, fn, config }, { ...event, payload: payloadOf(event) }, expressions, true).flow?.buffer ?? null;
  // The option configured when the event came may be gone.
  if (rule === null || gatheredAs[rule.kind] !== kind) return null;
  const use = await store.reads.buffer(env, fn, rule.kind, rule.key);
  if (use === null) return null;
  const max = rule.kind === "batch" ? rule.maxSize : null;
  return { count: use.count, max, startsAt: use.dueAt, newestEventId: use.newestEventId };
}

async function lineOf(engine: Engine, run: Run, event: Event): Promise<LimitInLine[]> {
  const { store, env, expressions } = engine;
  const { fn } = run;
  if (run.state !== "queued") return [];
  // A person may have raised a limit through another process.
  await engine.registry.refresh();
  const config = await configOf(engine, fn);
  if (config === null) return [];
  const of = { env, fn, config };
  const payload = payloadOf(event);
  const lane = planLane(of, payload, expressions);
  if (lane === null) return [];
  const uses = new Map((await store.reads.limitUses(env, limitsRead)).map((use) => [use.id, use]));
  return (
    laneLimits(readLane(lane.name), config)
      // A limit that spaces starts is not paid again by a run that has begun.
      .filter(({ periodMs }) => periodMs === null || run.startedAt === null)
      .map(({ id, kind, limit, periodMs, key, scope, temporary }): LimitInLine => {
        const { used, waiting } = uses.get(id) ?? { used: 0, waiting: 0 };
        const value = key === null ? null : sharedKeyOf(of, `${kind}.key`, key, payload, expressions);
        return { kind, limit, periodMs, key: value, scope, temporary, used: periodMs === null ? used : null, waiting };
      })
  );
}

async function cancelsOf(engine: Engine, run: Run): Promise<CancelOutlook[]> {
  if (isEnded(run.state)) return [];
  const rules = (await configOf(engine, run.fn))?.cancelOn ?? [];
  return rules
    .map(({ event, if: condition, timeoutMs }) => ({
      event,
      if: condition,
      until: timeoutMs === null ? null : run.createdAt + timeoutMs,
    }))
    .filter(({ until }) => until === null || until > engine.now());
}

async function configOf({ registry }: Engine, fn: string): Promise<FunctionConfig | null> {
  // Another process may have registered it since.
  if (registry.get(fn) === null) await registry.refresh();
  return registry.get(fn)?.config ?? null;
}
