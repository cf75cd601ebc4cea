// One function for each option that limits, gathers, orders, cancels or schedules runs, and two that have all of them.
import { note, released, told } from "../say.ts";
import type { AppParts, Given } from "./define.ts";

// Long enough for another one to begin, if it may.
const stepMs = 15;

/** A step that says when it begins and when it is over. */
function occupied(run: Given, step: string): Promise<void> {
  const { k } = run.event.data;
  return told(run, step, async () => {
    note(run, `in ${k}`);
    await (run.event.data.held && step === "one" ? released(run.runId) : new Promise((go) => setTimeout(go, stepMs)));
    note(run, `out ${k}`);
  });
}

const gathered = ({ event, events }: Given) => ({
  event: event.id,
  events: events.map(({ id }) => id),
  data: events.map(({ data }) => data.n),
});

export function flow({ app, define }: AppParts): any[] {
  const working = async (run: Given) => {
    await occupied(run, "one");
    return occupied(run, "two");
  };
  return [
    define("alone", { concurrency: [{ limit: 1, key: "event.data.k" }] }, async (run) => {
      await occupied(run, "one");
      if (run.event.data.waits) {
        await run.step.waitForEvent("w", { event: `${app}/go-on`, timeout: "1h", match: "data.k" });
      }
      return occupied(run, "two");
    }),
    define("wide", { concurrency: 2 }, (run) => Promise.all(["a", "b", "c"].map((id) => occupied(run, id)))),
    define("shares", { concurrency: { limit: 1, key: '"printer"', scope: "env" } }, working),
    define("ranked", { concurrency: 1, priority: { run: "event.data.rank" } }, working),
    define("spaced", { throttle: { limit: 1, period: "1s" } }, (run) => told(run, "begin", () => run.event.data.n)),
    define("limited", { rateLimit: { limit: 1, period: "1h", key: "event.data.k" } }, () => "within the limit"),
    define("settles", { debounce: { period: "1s", key: "event.data.k" } }, ({ event }) => event.data.n),
    define(
      "settles-once",
      { idempotency: "event.data.order", debounce: { period: "1s" } },
      ({ event }) => event.data.order,
    ),
    define("only", { singleton: { mode: "skip", key: "event.data.k" } }, working),
    define("latest", { singleton: { mode: "cancel", key: "event.data.k" } }, working),
    define(
      "cancellable",
      {
        cancelOn: [
          { event: `${app}/withdrawn`, match: "data.order" },
          { event: `${app}/closed`, if: "async.data.shop == event.data.shop", timeout: "1h" },
        ],
      },
      async (run) => {
        await told(run, "before", () => "before");
        await run.step.sleep("long", "1h");
        return told(run, "after", () => "never");
      },
    ),
    define("gathers", { batchEvents: { maxSize: 3, timeout: "1h" } }, async (run) => {
      const inStep = await told(run, "look", () => gathered(run));
      await run.step.sleep("nap", "1s");
      return { inStep, afterwards: gathered(run) };
    }),
    define("gathers-late", { batchEvents: { maxSize: 100, timeout: "1s" } }, gathered),
    define(
      "gathers-some",
      { batchEvents: { maxSize: 2, timeout: "1h", key: "event.data.by", if: "event.data.bulk == true" } },
      gathered,
    ),
    define("gathers-once", { idempotency: "event.data.order", batchEvents: { maxSize: 3, timeout: "1h" } }, gathered),
    define("gathers-much", { batchEvents: { maxSize: 10, timeout: "1h" } }, (run) =>
      told(run, "look", () => gathered(run)),
    ),
    define(
      "everything",
      {
        triggers: [{ event: `${app}/everything`, if: "event.data.n > 0" }, { cron: "TZ=Europe/Paris 0 3 * * *" }],
        concurrency: [
          { limit: 5, key: "event.data.k" },
          { limit: 100, key: '"account"', scope: "account" },
        ],
        throttle: { limit: 10, period: "1m", burst: 5, key: "event.data.k" },
        rateLimit: { limit: 100, period: "1h", key: "event.data.k" },
        debounce: { period: "1s", timeout: "1m", key: "event.data.k" },
        priority: { run: "event.data.urgent == true ? 60 : 0" },
        singleton: { mode: "skip", key: "event.data.k" },
        cancelOn: [{ event: `${app}/withdrawn`, match: "data.k", timeout: "1h" }],
        timeouts: { start: "1h", finish: "2h" },
        retries: 2,
        onFailure: () => null,
      },
      (run) => told(run, "done", () => run.event.data.n),
    ),
    define(
      "everything-gathered",
      {
        concurrency: 5,
        throttle: { limit: 10, period: "1m", burst: 10 },
        rateLimit: { limit: 100, period: "1h" },
        batchEvents: { maxSize: 2, timeout: "1h", key: "event.data.k", if: "event.data.n > 0" },
        timeouts: { start: "1h", finish: "2h" },
      },
      gathered,
    ),
  ];
}
