// What is committed in this process, told to whoever listens.
import type { StoreObserver } from "../../observe/observed-store.ts";
import type { LiveDigests } from "./live-digests.ts";

export const liveObserver = (
  live: LiveDigests,
): Pick<StoreObserver, "accepted" | "decided" | "runEnded"> & Required<Pick<StoreObserver, "touched">> => ({
  accepted: (env, count) => live.note(env, "accepted", count),
  decided: (env, kind, count) => {
    if (kind === "started") live.note(env, "started", count);
    else if (kind === "duplicate-event" || kind === "duplicate-key") live.note(env, "suppressed", count);
  },
  runEnded: (env, runId, state) => {
    live.note(env, "ended");
    if (state === "failed") live.note(env, "failed");
    live.touched(env, runId);
  },
  touched: (env, runId) => live.touched(env, runId),
});
