// Whether an engine can do its work now, and if not, why: what a probe asks before it sends requests here.
import type { Engine } from "./engine.ts";
import type { StoreHealth } from "./store-health.ts";

export interface NotReady {
  readonly part: "client" | "store" | "worker";
  /** A sentence without names of hosts and files: anybody may ask. */
  readonly why: string;
  /** Of the error behind it, where there is one. */
  readonly code?: string;
}

export interface Readiness {
  readonly isReady: boolean;
  /** Empty for one that is ready. */
  readonly reasons: readonly NotReady[];
}

export const readyOr = (reasons: readonly NotReady[]): Readiness => ({ isReady: reasons.length === 0, reasons });

export async function readinessOf(
  engine: { readonly worker: Pick<Engine["worker"], "isRunning" | "isBeating"> },
  store: StoreHealth,
): Promise<Readiness> {
  const health = await store.check();
  const reasons: NotReady[] = health.isWell ? [] : [{ part: "store", why: health.why, code: health.code }];
  const { isRunning, isBeating } = engine.worker;
  if (isRunning && !isBeating) {
    reasons.push({ part: "worker", why: "the worker was not heard of for longer than its lease is trusted" });
  }
  return readyOr(reasons);
}
