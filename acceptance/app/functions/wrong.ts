// Options that cannot hold, one for each app: its id says which.
import type { AppParts } from "./define.ts";

const batchEvents = { maxSize: 10, timeout: "10s" };

const options: Readonly<Record<string, object>> = {
  "wrong-concurrency": { concurrency: -5 },
  "wrong-scope": { concurrency: { limit: 5, scope: "account" } },
  "wrong-throttle": { throttle: { limit: 5, period: "8d" } },
  "wrong-rate-limit": { rateLimit: { limit: 5, period: "25h" } },
  "wrong-debounce": { debounce: { period: "10ms" } },
  "wrong-batch": { batchEvents: { ...batchEvents, maxSize: 1_000 } },
  "wrong-batch-and-singleton": { batchEvents, singleton: { mode: "skip" } },
  "wrong-priority": { priority: { run: "event.data.urgent ?" } },
  "wrong-cancel": { cancelOn: [{ event: "a/b", if: "event.data.x =" }] },
  "wrong-cron": { triggers: [{ cron: "61 * * * *" }] },
};

export const wrong = ({ app, define }: AppParts): any[] => [define("fn", options[app]!, () => "never")];
