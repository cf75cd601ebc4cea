// Holds a lease while user code runs: a heartbeat every third of it, so that one lost heartbeat still leaves another before the lease ends.
// A blocked event loop loses its lease, which is wanted: another takes over what this process cannot be seen to do.
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import type { Platform } from "../../platform/platform.ts";
import { callWithin } from "../call-within.ts";
import type { Held } from "./decide-claim.ts";

export interface KeptLease {
  /** Aborts with reason "lease-lost" once somebody else may have taken over. */
  readonly signal: AbortSignal;
  /** By the monotonic clock: when it was last known to be held. */
  heldAt(): number;
  end(): void;
}

// A shorter one is lost to an ordinary pause of the process or the database.
const leaseMsMin = 100;

export function leaseMsOf(call: string, lease: string | number): number {
  const ms = parseDuration(lease, "lease");
  if (ms >= leaseMsMin) return ms;
  throw errors.TOOLKIT_OPTION_INVALID({ call, option: "lease", why: `it must be at least ${leaseMsMin} ms` });
}

/** `beat` extends the lease. */
export function keepLease(
  platform: Pick<Platform, "timer" | "monoMs">,
  leaseMs: number,
  beat: () => Promise<Held>,
): KeptLease {
  const everyMs = leaseMs / 3;
  const lost = new AbortController();
  let isOver = false;
  let heldAt = platform.monoMs();
  const arm = () => platform.timer(everyMs, () => void tell(), { background: true });
  const tell = async (): Promise<void> => {
    const askedAt = platform.monoMs();
    const called = await callWithin(platform, everyMs, beat);
    if (isOver) return;
    if (called.kind === "answer" && called.value === "held") heldAt = askedAt;
    // A database that does not answer for a while has not said no; for longer than the lease, nobody can know.
    const isHeld = called.kind === "answer" ? called.value === "held" : platform.monoMs() - heldAt < leaseMs;
    if (isHeld) timer = arm();
    else lost.abort("lease-lost");
  };
  let timer = arm();
  return {
    signal: lost.signal,
    heldAt: () => heldAt,
    end: () => {
      isOver = true;
      timer.cancel();
    },
  };
}
