import { describe, expect, test } from "vitest";
import { z } from "zod";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

type Sent = { readonly ids: readonly string[] };

describe.each(stores)("step.sendEvent on %s", (store) => {
  test("the events are stored with the step, and name the run that sent them", async () => {
    const run = await oneRun(
      async ({ step }) => {
        const { ids } = await step.sendEvent("fan out", [
          { name: "test/a", data: { n: 1 } },
          { id: "mine", name: "test/b", data: { n: 2 } },
        ]);
        await step.sleep("nap", "1h");
        return ids;
      },
      { store },
    );
    const { output } = await run.end();
    expect(output).toHaveLength(2);
    const [a, b] = await Promise.all((output as string[]).map((id) => run.idem.events.get(id)));
    expect(a).toMatchObject({
      internalId: (output as string[])[0],
      name: "test/a",
      data: { n: 1 },
      sourceRunId: run.runId,
    });
    expect(b).toMatchObject({ id: "mine", name: "test/b", data: { n: 2 }, sourceRunId: run.runId });
    expect((await run.idem.events.list()).map(({ name }) => name)).toEqual(["test/b", "test/a", "test/go"]);
  });

  test("a rerun's fan-out is recognised as a duplicate and shown, and starts nothing", async () => {
    const run = await oneRun(
      async ({ step }) => step.sendEvent("fan out", [{ name: "test/child" }, { name: "test/child" }]),
      {
        store,
        also: (idem) => {
          idem.createFunction({ id: "child" }, { event: "test/child" }, async () => null);
        },
      },
    );
    const first = ((await run.end()).output as Sent).ids;
    const { runId } = await run.idem.runs.rerun(run.runId);
    const second = ((await run.idem.runs.wait(runId)).output as Sent).ids;
    await run.idem.idle();
    expect(await run.idem.runs.list({ function: "child" })).toHaveLength(2);
    for (const [i, id] of second.entries()) {
      const { duplicateOf, decisions } = (await run.idem.events.get(id))!;
      expect(duplicateOf).toBe(first[i]);
      expect(decisions).toMatchObject([{ function: "child", kind: "duplicate-event" }]);
    }
  });

  test("an event that cannot be accepted fails the step without another try, and none of its list is stored", async () => {
    let attempts = 0;
    const run = await oneRun(
      async ({ step }) => {
        attempts++;
        await step.sendEvent("bad", [{ name: "test/fine" }, { name: "test/odd", data: { big: 1n } }]);
      },
      { store },
    );
    const { state, error } = await run.end();
    expect([state, error!.code, attempts]).toEqual(["failed", "VALUE_UNSERIALIZABLE", 1]);
    expect(error!.message).toContain('Step "bad": event 2 of 2');
    expect(error!.message).toContain("big");
    expect(await run.idem.events.list({ name: "test/fine" })).toEqual([]);
  });
});

test("every send of a repeated step has ids of its own", async () => {
  const run = await oneRun(async ({ step }) => {
    for (let i = 0; i < 3; i++) await step.sendEvent("tick", { name: "test/tick", data: { i } });
  });
  await run.end();
  const events = await run.idem.events.list({ name: "test/tick" });
  expect(events).toHaveLength(3);
  expect(events.every((event) => event.duplicateOf === null)).toBe(true);
  expect(new Set(events.map((event) => event.id)).size).toBe(3);
});

test("a step's events pass the client's schemas and middleware like any other", async () => {
  const { idem } = testIdem({
    events: { "test/typed": z.object({ n: z.number() }), "test/go": z.object({ n: z.any() }) },
    middleware: [
      { onSend: (events) => events.map((event: any) => ({ ...event, data: { ...event.data, stamped: true } })) },
    ],
  });
  idem.createFunction({ id: "one" }, { event: "test/go" }, async ({ event, step }) =>
    step.sendEvent("send", { name: "test/typed", data: { n: event.data.n } }),
  );
  await idem.start();
  const good = (await idem.send({ name: "test/go", data: { n: 1 } })).decisions[0]!.runId!;
  const { output } = await idem.runs.wait(good);
  expect(await idem.events.get((output as Sent).ids[0]!)).toMatchObject({ data: { n: 1, stamped: true } });
  const bad = (await idem.send({ name: "test/go", data: { n: "one" } })).decisions[0]!.runId!;
  const { state, error } = await idem.runs.wait(bad);
  expect([state, error!.code]).toEqual(["failed", "EVENT_SCHEMA"]);
  expect(error!.message).toContain("data.n");
});

test("more events than one call may have are refused", async () => {
  const run = await oneRun(async ({ step }) =>
    step.sendEvent(
      "too many",
      Array.from({ length: 5_001 }, () => ({ name: "a/b" })),
    ),
  );
  expect(await run.end()).toMatchObject({ state: "failed", error: { code: "EVENT_BATCH_TOO_LARGE" } });
});
