import { expect, test } from "vitest";
import { readFlow } from "./options.ts";
import { flowText } from "./words.ts";

test.each([
  [{}, "–"],
  [{ concurrency: 5 }, "5 at once"],
  [
    {
      concurrency: [
        { limit: 2, key: "event.data.user" },
        { limit: 9, key: '"openai"', scope: "env", parallelSteps: true },
      ],
    },
    '2 at once by event.data.user; 9 steps at once by "openai" (env)',
  ],
  [{ throttle: { limit: 10, period: "1m" } }, "throttle 10 in 1 min"],
  [{ rateLimit: { limit: 1, period: "4h", key: "event.data.k" } }, "at most 1 in 4 h by event.data.k"],
  [{ debounce: { period: "30s" }, singleton: { mode: "skip" } }, "debounce 30 s; singleton skip"],
  [{ batchEvents: { maxSize: 50, timeout: "5m" } }, "batches of 50 or 5 min"],
  [{ priority: { run: "event.data.p" }, cancelOn: [{ event: "a/stop" }] }, "priority; cancelled by a/stop"],
])("%j is shown as %s", (options, text) => {
  expect(flowText(readFlow(options))).toBe(text);
});
