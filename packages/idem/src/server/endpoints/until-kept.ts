// Durable before visible: a report is acknowledged once the store has it. The engine goes on from the report
// by itself, so what is looked at is the store.
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { isEnded } from "../../model/run.ts";
import type { Platform } from "../../platform/platform.ts";
import type { WireOp } from "../../protocol/wire-ops.ts";
import type { RunMemo } from "../../store/leases.ts";

export async function untilKept(
  engine: Engine,
  platform: Pick<Platform, "timer" | "monoMs">,
  runId: string,
  ops: readonly WireOp[],
  withinMs: number,
): Promise<void> {
  const until = platform.monoMs() + withinMs;
  for (let delayMs = 0; ; delayMs = Math.min(delayMs * 2 + 1, 50)) {
    const memo = await engine.store.reads.runMemo(engine.env, runId);
    if (memo === null || isKept(memo, ops)) return;
    if (platform.monoMs() > until) throw errors.SERVER_BUSY({ why: `run ${runId} is not stored yet` });
    await new Promise<void>((resolve) => {
      platform.timer(delayMs, resolve);
    });
  }
}

/** Plans are found again whenever the code is entered; everything else leaves a trace. */
export function isKept(memo: RunMemo, ops: readonly WireOp[]): boolean {
  if (isEnded(memo.run.state)) return true;
  const kept = new Set([...memo.steps, ...memo.waits, ...memo.attempts].map(({ stepId }) => stepId));
  // A failure of the code between steps is kept under no step's id.
  return ops.every((op) => untraced.has(op.op) || kept.has(op.stepId) || (op.op === "threw" && kept.has("")));
}

const untraced: ReadonlySet<WireOp["op"]> = new Set(["planned", "look-again", "nothing", "fetch", "infer"]);
