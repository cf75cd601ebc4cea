// The lease of a key at work, extended from a timer: a process that is frozen or whose loop is blocked loses it, and that is wanted.
import type { Platform } from "../../platform/platform.ts";
import type { KeyHolder, KeyStore } from "../keys/key-store.ts";
import { callWithin } from "./store-call.ts";

export interface Lease {
  /** By the monotonic clock: when the lease was last known to be held. */
  heldAt(): number;
  stop(): void;
}

export interface LeaseOf {
  readonly keys: KeyStore;
  readonly platform: Platform;
  readonly holder: KeyHolder;
  readonly leaseMs: number;
  /** Somebody else has the key, or nobody could be asked for as long as the lease lasts. Called once at most. */
  lost(): void;
}

export function keepLease({ keys, platform, holder, leaseMs, lost }: LeaseOf): Lease {
  // A third: one lost heartbeat still leaves another before the lease ends.
  const everyMs = leaseMs / 3;
  let heldAt = platform.monoMs();
  let isStopped = false;
  let timer = platform.timer(everyMs, beat);

  async function beat(): Promise<void> {
    const askedAt = platform.monoMs();
    const called = await callWithin(platform, everyMs, () => keys.heartbeat(holder, leaseMs));
    if (isStopped) return;
    if (called.kind === "answer" && called.value === "held") heldAt = askedAt;
    const isLost = called.kind === "answer" ? called.value === "lost" : platform.monoMs() - heldAt >= leaseMs;
    if (isLost) {
      isStopped = true;
      lost();
    } else timer = platform.timer(everyMs, beat);
  }

  return {
    heldAt: () => heldAt,
    stop() {
      isStopped = true;
      timer.cancel();
    },
  };
}
