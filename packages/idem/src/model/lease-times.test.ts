import { expect, test } from "vitest";
import { leaseTimes, sharedLeaseTermMs } from "./lease-times.ts";

test.each([sharedLeaseTermMs, 4_000, 600_000])(
  "in a term of %i ms a silent query, and two silent beats, are over before the lease is no longer trusted",
  (termMs) => {
    const { trustMs, beatEveryMs, beatTimeoutMs, lockWaitMs, queryTimeoutMs } = leaseTimes(termMs);
    expect(beatEveryMs + 2 * beatTimeoutMs).toBeLessThan(trustMs);
    expect(queryTimeoutMs).toBeLessThan(trustMs);
    // The server says that a session waits for a lock; it is not taken for a dead one.
    expect(lockWaitMs).toBeLessThan(queryTimeoutMs);
    expect(trustMs).toBeLessThan(termMs);
  },
);
