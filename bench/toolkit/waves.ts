// One key, asked for 100 times at once, wave after wave, by two apps over one database, so that it is the database that decides. Each wave must
// execute its handler once, and tell everybody the same or to come back: anything else ends the bench.
import { quantile } from "../measure.ts";
import { type Charges, request } from "./charges.ts";
import type { FetchHandler } from "./idem.ts";

export interface Waves {
  readonly waves: number;
  readonly askers: number;
  /** In all waves together. */
  readonly executions: number;
  readonly replayed: number;
  /** Told 409: the first one was still at work. */
  readonly conflicts: number;
  /** From the first asking to the last answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const askers = 100;

export async function takeWaves(
  apps: readonly Charges[],
  name: string,
  of: (charges: Charges) => FetchHandler,
  waves: number,
): Promise<Waves> {
  const handlers = apps.map(of);
  const executed = () => apps.reduce((all, app) => all + app.executions(), 0);
  const tookMs = new Float64Array(waves);
  const told = { replayed: 0, conflicts: 0 };
  const before = executed();
  for (let wave = 0; wave < waves; wave++) {
    const startedAt = performance.now();
    const asked = Array.from({ length: askers }, (_, n) => answered(handlers[n % handlers.length]!, `${name}-${wave}`));
    const answers = await Promise.all(asked);
    tookMs[wave] = performance.now() - startedAt;
    const executions = executed() - before - wave;
    const firsts = answers.filter(({ kind }) => kind === "executed");
    const replayed = answers.filter(({ kind }) => kind === "replayed");
    const conflicts = answers.filter(({ kind }) => kind === "conflict");
    if (executions !== 1 || firsts.length !== 1 || 1 + replayed.length + conflicts.length !== askers) {
      throw new Error(`${name}, wave ${wave}: the handler was executed ${executions} times for ${askers} duplicates`);
    }
    if (replayed.some(({ body }) => body !== firsts[0]!.body)) {
      throw new Error(`${name}, wave ${wave}: a duplicate was told something else`);
    }
    told.replayed += replayed.length;
    told.conflicts += conflicts.length;
  }
  tookMs.sort();
  return {
    waves,
    askers,
    executions: executed() - before,
    ...told,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  };
}

interface Answered {
  readonly kind: "executed" | "replayed" | "conflict" | "other";
  readonly body: string;
}

async function answered(handler: FetchHandler, key: string): Promise<Answered> {
  const response = await handler(request(key));
  const body = await response.text();
  const status = response.headers.get("idempotency-status");
  if (response.status === 409) return { kind: "conflict", body };
  if (response.status !== 201) return { kind: "other", body };
  return { kind: status === "executed" || status === "replayed" ? status : "other", body };
}
