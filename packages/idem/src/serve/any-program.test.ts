// Programs nobody wrote: whatever steps a function is made of, its output and its memo are the same embedded and served.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "../node.ts";
import { Idem } from "../sdk/client.ts";
import { type RunsApi, runsApi } from "../sdk/reads-api.ts";
import { type RunningServer, startServer } from "../server/start-server.ts";
import { syncApp } from "../server/sync-app.ts";

type Program =
  | { readonly kind: "run"; readonly id: string; readonly value: number; readonly failures: number }
  | { readonly kind: "sleep"; readonly id: string; readonly ms: number }
  | { readonly kind: "caught"; readonly id: string }
  | { readonly kind: "deadline"; readonly id: string; readonly value: number }
  | { readonly kind: "row" | "beside"; readonly parts: readonly Program[] };

// Few ids, so that many are used again.
const id = fc.constantFrom("a", "b", "c", "a:1");
const { program } = fc.letrec<{ program: Program }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.record({ kind: fc.constant("run" as const), id, value: fc.nat(9), failures: fc.nat(2) }),
    fc.record({ kind: fc.constant("sleep" as const), id, ms: fc.nat(30) }),
    fc.record({ kind: fc.constant("caught" as const), id }),
    fc.record({ kind: fc.constant("deadline" as const), id, value: fc.nat(9) }),
    fc.record({
      kind: fc.constantFrom("row" as const, "beside" as const),
      parts: fc.array(tie("program"), { minLength: 1, maxLength: 4 }),
    }),
  ),
}));

/** Entries into each step of each run, over all attempts. */
const entered = new Map<string, number>();

async function interpret(part: Program, step: any, runId: string): Promise<unknown> {
  switch (part.kind) {
    case "run":
      return step.run(part.id, ({ key }: { key: string }) => {
        const tried = (entered.get(`${runId} ${key}`) ?? 0) + 1;
        entered.set(`${runId} ${key}`, tried);
        if (tried <= part.failures) throw new Error(`${part.id} failed`);
        return part.value;
      });
    case "sleep":
      return step.sleep(part.id, part.ms);
    case "caught":
      return step
        .run(part.id, () => {
          throw new Error("never");
        })
        .catch((error: Error) => error.message);
    case "deadline":
      return Promise.race([step.run(part.id, () => part.value), step.sleep(`${part.id} until`, "1h")]);
    case "row": {
      const values: unknown[] = [];
      for (const each of part.parts) values.push(await interpret(each, step, runId));
      return values;
    }
    case "beside":
      return Promise.all(part.parts.map((each) => interpret(each, step, runId)));
  }
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const define = (idem: Idem, pace: object) => {
  idem.createFunction({ id: "fn", retries: 2, ...pace }, { event: "test/go" }, ({ event, step, runId }) =>
    interpret(event.data.program as Program, step, runId),
  );
};

let here: Idem;
let there: Idem;
let server: RunningServer;
let app: Server;
let servedRuns: RunsApi;

beforeAll(async () => {
  here = new Idem({ id: "shop", store: "memory:", logger: quiet });
  define(here, { backoff: () => 10 });
  await here.start();
  const settings = { port: 0, store: "memory:", discovery: false, poll: false, retryIntervalMs: 10 } as const;
  server = await startServer(settings, { logger: quiet });
  there = new Idem({ id: "shop", server: server.origin, logger: quiet });
  define(there, {});
  app = createServer(serve(there, { dev: true })).listen(0, "127.0.0.1");
  await once(app, "listening");
  await syncApp(server.world, "default", `http://127.0.0.1:${(app.address() as AddressInfo).port}/`);
  servedRuns = runsApi(() => server.world.engine("default"));
});

afterAll(async () => {
  await server.close({ graceMs: 0 });
  app.closeAllConnections();
  app.close();
  await here.stop({ grace: 0 });
});

async function story(idem: Idem, runs: RunsApi, given: Program) {
  const sent = await idem.send({ name: "test/go", data: { program: given } });
  const runId = sent.decisions[0]!.runId!;
  const end = await runs.wait(runId);
  const { timeline } = (await runs.get(runId))!;
  const steps = timeline
    .filter(({ state }) => state !== "waiting")
    .map(({ stepId, state, output, error, attempts }) => ({
      stepId,
      state,
      output,
      error: error?.message ?? null,
      attempts: attempts.length,
    }))
    .sort((a, b) => (a.stepId < b.stepId ? -1 : 1));
  return { state: end.state, output: end.output, error: end.error?.message ?? null, steps };
}

test("any program has the same output and the same steps, embedded and served", async () => {
  await fc.assert(
    fc.asyncProperty(program, async (given) => {
      const embedded = await story(here, here.runs, given);
      expect(embedded.state).toBe("completed");
      expect(await story(there, servedRuns, given)).toEqual(embedded);
    }),
    { numRuns: 25 },
  );
});
