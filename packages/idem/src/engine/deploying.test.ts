// The table of docs/deploying.md about changes of code while a run is under way: each row, tried. The run does its first half with the code
// before, sleeps, and does the rest with the code after.
import { expect, test } from "vitest";
import { oneRun } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

type Step = any;
type Code = (step: Step, did: (what: string) => void) => Promise<unknown>;

async function deploy(before: Code, after: Code) {
  const did: string[] = [];
  let code = before;
  const run = await oneRun(({ step }, { clock }) =>
    code(step, (what) => {
      clock.stepWall(1);
      did.push(what);
    }),
  );
  await run.idem.idle();
  code = after;
  const { state } = await run.end();
  const { timeline } = (await run.idem.runs.get(run.runId))!;
  return { state, did, diverged: timeline.filter(({ kind }) => kind === "diverged").map(({ name }) => name), timeline };
}

const nap = (step: Step) => step.sleep("nap", "1h");
const run = (step: Step, id: string, did: (what: string) => void) => step.run(id, () => did(id));

/** Steps of these ids, a nap, and one more. */
const code =
  (...ids: string[]): Code =>
  async (step, did) => {
    for (const id of ids) await run(step, id, did);
    await nap(step);
    await run(step, "last", did);
  };

test.each<[string, Code, string[], string[]]>([
  [
    "a step added at the end",
    async (step, did) => {
      await code("a", "b")(step, did);
      await run(step, "new", did);
    },
    ["a", "b", "last", "new"],
    [],
  ],
  ["a step added between steps that are done", code("a", "new", "b"), ["a", "b", "new", "last"], []],
  ["steps that are done in another order", code("b", "a"), ["a", "b", "last"], []],
  ["a step that is done and was renamed", code("a", "c"), ["a", "b", "c", "last"], ["b"]],
  ["a step that is done and was removed", code("a"), ["a", "b", "last"], ["b"]],
  [
    "a step that is still to come, renamed",
    async (step, did) => {
      await run(step, "a", did);
      await run(step, "b", did);
      await nap(step);
      await run(step, "last-of-all", did);
    },
    ["a", "b", "last-of-all"],
    [],
  ],
  [
    "what a step does, under the same id",
    async (step, did) => {
      await step.run("a", () => did("another a"));
      await run(step, "b", did);
      await nap(step);
      await run(step, "last", did);
    },
    ["a", "b", "last"],
    [],
  ],
  [
    "the length of a sleep that is under way",
    async (step, did) => {
      await run(step, "a", did);
      await run(step, "b", did);
      await step.sleep("nap", "5h");
      await run(step, "last", did);
    },
    ["a", "b", "last"],
    [],
  ],
  [
    "the id of a sleep that is over",
    async (step, did) => {
      await run(step, "a", did);
      await run(step, "b", did);
      await step.sleep("rest", "1h");
      await run(step, "last", did);
    },
    ["a", "b", "last"],
    ["nap"],
  ],
])("docs/deploying.md: %s", async (_, after, did, diverged) => {
  const found = await deploy(code("a", "b"), after);
  expect(found).toMatchObject({ state: "completed", did, diverged });
});

test("docs/deploying.md: a sleep that is under way ends when it was to end, whatever its length is now", async () => {
  const { timeline } = await deploy(code("a"), async (step, did) => {
    await run(step, "a", did);
    await step.sleep("nap", "5h");
  });
  const slept = timeline.find(({ name }) => name === "nap")!;
  expect(Math.round((slept.endedAt! - slept.startedAt) / 1_000)).toBe(3_600);
});

test("docs/deploying.md: an item put before others of a loop that repeats an id moves their outcomes", async () => {
  const loop =
    (...items: string[]): Code =>
    async (step, did) => {
      for (const item of items) await step.run("item", () => did(item));
      await nap(step);
    };
  // By their number the first two are done: the new item is taken for one of them, and the last is done twice.
  expect((await deploy(loop("x", "y"), loop("new", "x", "y"))).did).toEqual(["x", "y", "y"]);
  const named =
    (...items: string[]): Code =>
    async (step, did) => {
      for (const item of items) await step.run(`item-${item}`, () => did(item));
      await nap(step);
    };
  expect((await deploy(named("x", "y"), named("new", "x", "y"))).did).toEqual(["x", "y", "new"]);
});

test("docs/deploying.md: a wait that is under way matches by what it was begun with", async () => {
  const heard: unknown[] = [];
  let match = "data.orderId";
  const world = testIdem();
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
    heard.push((await step.waitForEvent("paid", { event: "a/paid", timeout: "1d", match }))?.data ?? null);
  });
  await world.idem.start();
  await world.idem.send({ name: "a/b", data: { orderId: 1, customerId: 7 } });
  await world.idem.idle();
  match = "data.customerId";
  await world.idem.send({ name: "a/paid", data: { orderId: 2, customerId: 7 } });
  await world.idem.idle();
  expect(heard).toEqual([]);
  await world.idem.send({ name: "a/paid", data: { orderId: 1, customerId: 8 } });
  await world.idem.idle();
  expect(heard).toEqual([{ orderId: 1, customerId: 8 }]);
});

test("docs/deploying.md: a new idempotency key does not know what was claimed under the old one", async () => {
  const world = testIdem();
  const define = (idem: typeof world.idem, key: string) =>
    idem.createFunction({ id: "fn", idempotency: key }, { event: "a/b" }, async () => null);
  define(world.idem, "event.data.orderId");
  await world.idem.start();
  const event = { name: "a/b", data: { orderId: "o-1", shop: "s" } };
  await world.idem.send(event);
  await world.idem.idle();
  await world.idem.stop();
  const changed = world.client();
  define(changed, "event.data.shop + event.data.orderId");
  await changed.start();
  expect((await changed.send(event)).decisions.map(({ kind }) => kind)).toEqual(["started"]);
  expect((await changed.send(event)).decisions.map(({ kind }) => kind)).toEqual(["duplicate-key"]);
});
