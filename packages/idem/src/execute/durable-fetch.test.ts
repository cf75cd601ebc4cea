import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../platform/platform.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";

const answer = (status: number, body = "", headers: Record<string, string> = {}) => ({ status, headers, body });

describe.each(stores)("step.fetch on %s", (store) => {
  test("the answer is kept: one request, the same response on every replay", async () => {
    const asked: HttpRequest[] = [];
    const bodies: unknown[] = [];
    const run = await oneRun(
      async ({ step }) => {
        const response = await step.fetch("https://api.test/orders/7", { headers: { "X-Trace": "1" } });
        bodies.push(await response.json());
        await step.sleep("nap", "1h");
        return [response.status, response.ok, response.headers.get("content-type")];
      },
      {
        store,
        fetch: async (request) => {
          asked.push(request);
          return answer(200, '{"total":10}', { "content-type": "application/json" });
        },
      },
    );
    expect((await run.end()).output).toEqual([200, true, "application/json"]);
    expect(bodies).toEqual([{ total: 10 }, { total: 10 }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: "GET", url: "https://api.test/orders/7", headers: { "x-trace": "1" } });
    expect(asked[0]!.headers).not.toHaveProperty("idempotency-key");
    expect(await run.recorded()).toEqual(["step.fetch: api.test", "nap"]);
  });

  test("a request that changes something carries one Idempotency-Key through every retry and rerun", async () => {
    const keys: unknown[] = [];
    const run = await oneRun(
      async ({ step }) => (await step.fetch("https://api.test/charge", { method: "post", body: "{}" })).status,
      {
        store,
        fetch: async (request) => {
          keys.push(request.headers["idempotency-key"]);
          if (keys.length < 3) throw new TypeError("fetch failed");
          return answer(201);
        },
      },
    );
    expect((await run.end()).output).toBe(201);
    const { runId } = await run.idem.runs.rerun(run.runId);
    await run.idem.runs.wait(runId);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^idem_[\w-]{40}$/);
  });
});

test("any status is an answer, also those without a body", async () => {
  for (const status of [204, 205, 304, 400, 404, 500, 503]) {
    const run = await oneRun(
      async ({ step }) => {
        const response = await step.fetch("https://api.test/");
        return [response.status, await response.text()];
      },
      { fetch: async () => answer(status, [204, 205, 304].includes(status) ? "" : "said") },
    );
    expect((await run.end()).output).toEqual([status, [204, 205, 304].includes(status) ? "" : "said"]);
  }
});

test("a server that cannot be reached is tried again, then fails the step", async () => {
  let calls = 0;
  const run = await oneRun(async ({ step }) => step.fetch("https://api.test/"), {
    fn: { retries: 2 },
    fetch: async () => {
      calls++;
      throw new TypeError("fetch failed");
    },
  });
  expect(await run.end()).toMatchObject({ state: "failed", error: { message: "fetch failed" } });
  expect(calls).toBe(3);
});

test("an Idempotency-Key of the author's own is sent as it is, however its name is written", async () => {
  const seen: unknown[] = [];
  const run = await oneRun(
    async ({ step }) => {
      await step.fetch("mine", "https://api.test/", { method: "PUT", headers: { "Idempotency-Key": "mine" } });
      await step.fetch("list", new URL("https://api.test/"), {
        method: "PATCH",
        headers: [["IDEMPOTENCY-KEY", "too"]],
      });
    },
    {
      fetch: async (request) => {
        seen.push(request.headers["idempotency-key"]);
        return answer(200);
      },
    },
  );
  await run.end();
  expect(seen).toEqual(["mine", "too"]);
  expect(await run.recorded()).toEqual(["mine", "list"]);
});

test("what is no http address, or no text body, is refused at once", async () => {
  for (const call of [
    (step: any) => step.fetch("nonsense"),
    (step: any) => step.fetch("file:///etc/passwd"),
    (step: any) => step.fetch("https://api.test/", { method: "POST", body: new Uint8Array(1) }),
  ]) {
    const run = await oneRun(async ({ step }) => call(step));
    expect(await run.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
  }
});

test("a request nobody awaits does not end the process when it fails", async () => {
  const run = await oneRun(
    async ({ step }) => {
      void step.fetch("https://api.test/");
      return "done";
    },
    {
      fn: { retries: 0 },
      fetch: async () => {
        throw new TypeError("fetch failed");
      },
    },
  );
  expect(await run.end()).toMatchObject({ state: "completed", output: "done" });
  expect(await run.recorded()).toEqual(["step.fetch: api.test"]);
});
