// How long a call retries while its store does not answer: the option `storeTimeout`. Long enough for most failovers (docs/failover.md), short
// enough for a load balancer, which lets go of a request after a minute.
import { parseDuration } from "./duration.ts";
import { errors } from "./errors.ts";

export const storeTimeoutDefaultMs = 30_000;
const msMin = 1_000;
// A server cuts every request after ten minutes.
const msMax = 10 * 60_000;

export function readStoreTimeout(value: string | number | undefined, option = "storeTimeout"): number {
  if (value === undefined) return storeTimeoutDefaultMs;
  const ms = parseDuration(value, option);
  if (ms >= msMin && ms <= msMax) return ms;
  throw errors.OPTION_INVALID({ option, why: `${JSON.stringify(value)} is not between "1s" and "10m"` });
}
