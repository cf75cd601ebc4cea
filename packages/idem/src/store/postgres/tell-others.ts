// What of an operation's answer other nodes may want to know: work left for a lease, news for a run one of them holds, functions that
// changed.

import type { WokenRun } from "../advance.ts";
import type { PublishInput } from "../channels.ts";
import type { CancelledRun, Flushed } from "../flow.ts";
import type { Ingested } from "../ingest.ts";
import type { CancelInput } from "../runs.ts";
import { isDecidedBy, type SettingInput } from "../settings.ts";
import type { StoreHint } from "../sharing.ts";
import type { StoreWrites } from "../store.ts";

export function hintsOf(name: keyof StoreWrites, input: readonly unknown[], answer: unknown): StoreHint[] {
  const first = input[0];
  const env = typeof first === "string" ? first : ((first as { env?: string }).env ?? "");
  const said = answer as {
    readonly kind?: string;
    readonly queued?: boolean;
    readonly freed?: boolean;
    readonly changed?: boolean;
    readonly leased?: unknown;
    readonly ingested?: Ingested | null;
    readonly cancelled?: readonly CancelledRun[];
    readonly flushed?: Flushed;
    readonly woken?: readonly WokenRun[] | WokenRun;
  };
  const hints: StoreHint[] = [];
  if (name === "publish") hints.push({ env, kind: "published", channel: (first as PublishInput).channel });
  const queued = { env, kind: "queued" } as const;
  if ((name === "register" || name === "pause") && said.changed === true) hints.push({ env, kind: "registered" });
  if (name === "set" && isDecidedBy((first as SettingInput).kind)) hints.push({ env, kind: "registered" });
  if (said.queued === true || said.freed === true || said.ingested?.queued === true) hints.push(queued);
  if (name === "unpark" && said.kind === "released") hints.push(queued);
  if (name === "rerun" && said.kind === "started" && said.leased === null) hints.push(queued);
  const woken = said.woken === undefined ? [] : Array.isArray(said.woken) ? said.woken : [said.woken as WokenRun];
  for (const { runId, leasedBy } of woken as readonly WokenRun[]) {
    hints.push(leasedBy === null ? queued : { env, kind: "collect", runId, worker: leasedBy });
  }
  // Who holds a run that was cancelled should stop it now, not at its next save.
  const cancelled = [
    ...(said.cancelled ?? []),
    ...(said.ingested?.cancelled ?? []),
    ...(said.flushed?.cancelled ?? []),
  ];
  const runIds = cancelled.map(({ runId }) => runId);
  if (name === "cancel" && said.kind === "cancelled") runIds.push((first as CancelInput).runId);
  for (const runId of runIds) hints.push({ env, kind: "collect", runId, worker: "" });
  return hints;
}
