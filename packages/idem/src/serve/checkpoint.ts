// Gives steps to the server while the code goes on (docs/reference/wire.md#checkpoints). A step the server has is never run again.
import type { OpText } from "../protocol/app-answer.ts";
import type { RemoteServer } from "../sdk/remote-server.ts";

export interface CheckpointOf {
  readonly runId: string;
  readonly functionId: string;
  readonly queueItem: string;
  /** The call's id, as the server named it; null where it did not. */
  readonly requestId: string | null;
  readonly generation: number | null;
  readonly startedAt: number;
}

/** `stale`: a newer call has taken this one's place. `refused`: the steps go with the answer, and nothing is lost. */
export type Checkpointed = "taken" | "stale" | "refused";

export async function checkpoint(
  server: RemoteServer,
  of: CheckpointOf,
  steps: readonly OpText[],
  now: number,
  signal: AbortSignal,
): Promise<Checkpointed> {
  const head = JSON.stringify({
    run_id: of.runId,
    fn_id: of.functionId,
    qi_id: of.queueItem,
    ...(of.requestId === null ? {} : { request_id: of.requestId }),
    ...(of.generation === null ? {} : { generation_id: of.generation }),
    request_started_at: of.startedAt,
    ts: now,
  });
  try {
    const { status } = await server.ask({
      method: "POST",
      path: `/v1/checkpoint/${encodeURIComponent(of.runId)}/async`,
      body: `${head.slice(0, -1)},"steps":[${steps.join(",")}]}`,
      what: `Steps of run ${of.runId}`,
      signal,
    });
    if (status >= 200 && status < 300) return "taken";
    return status === 409 ? "stale" : "refused";
  } catch {
    // The server cannot be reached from here; it can from where it called us, or nobody hears the answer anyway.
    return "refused";
  }
}
