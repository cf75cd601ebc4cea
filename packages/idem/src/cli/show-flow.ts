// How a function's runs may begin, in a few words for one cell of a table.
import { lengthText } from "../model/duration.ts";
import type { FlowConfig } from "../model/function-config.ts";

/** "2 at once by event.data.user, 10 in 1 min"; "–" for a function without limits. */
export function flowText(flow: FlowConfig): string {
  const { concurrency, throttle, rateLimit, debounce, batch, singleton, priority, cancelOn } = flow;
  const parts: string[] = [];
  for (const { limit, key, scope } of concurrency ?? []) {
    parts.push(`${limit} at once${by(key)}${scope === "fn" ? "" : ` (${scope})`}`);
  }
  if (throttle !== undefined) parts.push(`throttle ${rate(throttle)}${by(throttle.key)}`);
  if (rateLimit !== undefined) parts.push(`at most ${rate(rateLimit)}${by(rateLimit.key)}`);
  if (debounce !== undefined) parts.push(`debounce ${lengthText(debounce.periodMs)}${by(debounce.key)}`);
  if (batch !== undefined) parts.push(`batches of ${batch.maxSize} or ${lengthText(batch.timeoutMs)}${by(batch.key)}`);
  if (singleton !== undefined) parts.push(`singleton ${singleton.mode}${by(singleton.key)}`);
  if (priority !== undefined) parts.push("priority");
  if (cancelOn !== undefined) parts.push(`cancelled by ${cancelOn.map(({ event }) => event).join(", ")}`);
  return parts.length === 0 ? "–" : parts.join("; ");
}

const by = (key: string | null): string => (key === null ? "" : ` by ${key}`);

const rate = ({ limit, periodMs }: { readonly limit: number; readonly periodMs: number }): string =>
  `${limit} in ${lengthText(periodMs)}`;
