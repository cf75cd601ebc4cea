// What stands between a run and its app, and what must not come of it (docs/reference/wire.md#an-answer): a run is tried again or
// fails with a reason, and never ends well by mistake.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { signed } from "./signed.ts";
import type { Exchange, Reply } from "./wire.ts";
import { keys, World } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["traces", "tools"] };
// The same app after a deployment that nobody told the server of.
const moved: HostedApp = { id: "shop", path: "moved", adapter: "node", functions: ["moved"] };

describe.each(["dev", "start"] as const)("with idem %s", (mode) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode, registeredBy: "nobody", apps: [app, moved] });
    await world.register(app);
  });
  afterAll(() => world?.close());

  /** Calls of runs of this function, by their number from 1. */
  function answering(fn: string, instead: (n: number, real: Reply) => Reply | "cut" | null) {
    let n = 0;
    return world.calls.disturb({
      after: ({ method, query }, reply) =>
        method === "POST" && query.get("fnId") === `shop-${fn}` ? instead(++n, reply) : null,
    });
  }

  const reasonsOf = async (runId: string) =>
    (await world.rest.timeline(runId)).flatMap(({ attempts }) => attempts.map(({ error }) => error?.message ?? null));

  describe.concurrent("answers", () => {
    const strange: readonly [string, string, number, (real: Reply) => Reply, RegExp][] = [
      ["a 200 of somebody else", "sequential", 2, () => ({ status: 200, headers: {}, body: '{"ok":true}' }), /no app/],
      ["a redirect", "parallel", 6, () => ({ status: 301, headers: { location: "http://a.test/" }, body: "" }), /301/],
      ["a page of a proxy", "nested", 6, () => ({ status: 502, headers: {}, body: "<h1>Bad gateway</h1>" }), /502/],
      ["an answer that is cut short", "repeats", 3, cutShort, mode === "dev" ? /not JSON/ : /trusted/],
    ];

    test.each(strange)(
      "%s ends no run: it is asked again, and the reason is seen",
      async (_, fn, steps, forge, reason) => {
        const undo = answering(fn, (n, real) => (n <= 2 ? forge(real) : null));
        const runId = await world.rest.start(`shop/${fn}`);
        expect(await world.rest.end(runId)).toMatchObject({ status: "Completed" });
        undo();
        const reasons = (await reasonsOf(runId)).filter((each) => each !== null);
        expect(reasons).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
        // The steps of the lost answers had been reported on the way.
        expect(world.entered(runId)).toHaveLength(steps);
      },
    );

    function cutShort({ status, body, headers: { "content-length": _, ...headers } }: Reply): Reply {
      return { status, headers, body: body.slice(0, body.length / 2) };
    }
  });

  describe("an app's code", () => {
    test("an answer without a step and without a result is tried again, and fails the run when it is the last", async () => {
      const undo = answering("sleep", (_, real) => emptied(real));
      const runId = await world.rest.start("shop/sleep");
      const { status, output } = await world.rest.end(runId);
      undo();
      expect(status).toBe("Failed");
      expect(output.message).toMatch(/without a step/);
      expect(world.traces.of(runId).length).toBeGreaterThan(1);
    });

    // Under the app's own key: otherwise it would not even be read.
    const emptied = ({ headers }: Reply): Reply =>
      signed({ status: 206, headers, body: "[]" }, keys.signing, Date.now());

    test("a function the app no longer has is tried again, and the run ends with the reason", async () => {
      const undo = reroute();
      const runId = await world.rest.start("shop/parallel");
      const { status, output } = await world.rest.end(runId);
      undo();
      expect(status).toBe("Failed");
      expect(output.message).toMatch(/shop-parallel|find function/i);
      expect(world.traces.of(runId)).toHaveLength(5);
    });

    test("an event the function no longer listens to fails its run at once, with the reason", async () => {
      const undo = reroute();
      const runId = await world.rest.start("shop/sequential");
      const { status, output } = await world.rest.end(runId);
      undo();
      expect(status).toBe("Failed");
      expect(output).toMatchObject({ name: "EventValidationError" });
      expect(world.traces.of(runId)).toEqual(["call step 0: 400 no retry"]);
    });

    const reroute = () => {
      const { route } = world.calls;
      world.calls.rewrite = (path) => path.replace("/api/shop", "/api/moved");
      world.calls.route = () => route("/api/moved");
      return () => {
        world.calls.rewrite = (path) => path;
        world.calls.route = route;
      };
    };
  });

  describe("the way back", () => {
    test("while checkpoints are refused, runs complete by their answers and every step runs once", async () => {
      let refused = 0;
      const undo = world.reports.disturb({
        before: ({ path }) => {
          if (!path.startsWith("/v1/checkpoint/")) return null;
          refused++;
          return { status: 500, headers: {}, body: '{"error":"not today","status":500}' };
        },
      });
      const runId = await world.rest.start("shop/sequential");
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { sum: 3 } });
      undo();
      expect(refused).toBeGreaterThanOrEqual(5);
      expect(world.entered(runId)).toEqual(["a", "b"]);
    });

    test("a checkpoint whose answer got lost is reported again and recorded once", async () => {
      let lost = 0;
      const undo = world.reports.disturb({
        after: ({ path }: Exchange) => (path.startsWith("/v1/checkpoint/") && lost++ < 2 ? "cut" : null),
      });
      const runId = await world.rest.start("shop/sequential");
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { sum: 3 } });
      undo();
      expect(lost).toBeGreaterThan(2);
      expect(world.entered(runId)).toEqual(["a", "b"]);
      expect(await world.rest.timeline(runId)).toHaveLength(2);
    });

    test("an app that is down is tried again without costing its author an attempt, and the reason is seen", async () => {
      const { route } = world.calls;
      world.calls.route = () => null;
      const runId = await world.rest.start("shop/attempt");
      await world.rest.until(`/api/runs/${runId}`, ({ run }) =>
        run.timeline.some(({ attempts }: { attempts: unknown[] }) => attempts.length >= 2),
      );
      expect((await reasonsOf(runId)).at(-1)).toMatch(/could not be reached/);
      expect(await world.rest.run(runId)).toMatchObject({ status: "Running" });
      world.calls.route = route;
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: 0 });
    });
  });
});
