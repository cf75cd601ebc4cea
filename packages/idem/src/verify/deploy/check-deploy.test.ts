// The command around replays: its threads are played here.
import { expect, test } from "vitest";
import type { IdemOptions } from "../../sdk/client-options.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import type { MemoryStore } from "../../store/memory/store.ts";
import { testIdem } from "../../testing/test-idem.ts";
import type { Answer } from "../playing-threads.ts";
import type { DescribedFunction, ToThread } from "../worker/messages.ts";
import { CannotReplay, checkDeploy } from "./check-deploy.ts";
import type { Replay } from "./replay.ts";

type Ask = (message: Extract<ToThread, { kind: "replay" }>, onLoaded: () => void) => Answer;

async function checked(ask: Ask, runs: number) {
  const { idem, store, clock } = testIdem();
  idem.createFunction({ id: "bill" }, { event: "shop/bill" }, ({ step }) => step.sleep("nap", "30d"));
  await idem.start();
  for (let i = 0; i < runs; i++) await idem.send({ name: "shop/bill", data: { i } });
  await idem.idle();
  const { reads } = store as MemoryStore;
  const [registered] = (await reads.functions("default")).functions;
  const config = JSON.parse(registered!.config) as DescribedFunction["config"];
  const { functions } = await checkDeploy({
    threads: { ask: async (message, onLoaded = () => {}) => ask(message as never, onLoaded) },
    lanes: 2,
    modules: ["new.mjs"],
    reads,
    env: "default",
    functions: [
      { app: "test", env: "default", fn: "test-bill", config, code: "", handlesEnd: false, place: null, madeBy: null },
    ],
    apps: ["test"],
    isWanted: () => true,
    sample: 100,
    now: clock.now(),
    onListed: () => {},
    onChecked: () => {},
  });
  return functions[0]!;
}

const same = (runId: string, stepId: string): Replay => ({
  runId,
  end: { kind: "waits" },
  asked: [{ stepId, name: "nap", repeat: 0, step: "nap", kind: "sleep", isNew: false, input: null }],
  passedOver: [],
  supposed: [],
  refused: [],
  refusedData: null,
});

/** A thread in which the code of these runs never gives back its turn. */
const spinning =
  (isSpinning: (data: { i: number }) => boolean): Ask =>
  ({ runs }, onLoaded) => {
    const replays: Replay[] = [];
    for (const { memo } of runs) {
      onLoaded();
      if (isSpinning(JSON.parse(memo.event.data) as { i: number })) return { kind: "stuck" };
      replays.push(same(memo.run.id, memo.waits[0]!.stepId));
    }
    return { kind: "replayed", replays, heapBytes: 0 };
  };

test("a run whose code never comes back is stuck, and those beside it are told all the same", async () => {
  const { runs, findings } = await checked(
    spinning(({ i }) => i === 2),
    5,
  );
  expect(runs).toMatchObject({ open: 5, checked: 5, goesOn: 4, stuck: 1 });
  expect(findings).toMatchObject([
    { kind: "STUCK", why: expect.stringContaining("does not come to its end"), runs: 1 },
  ]);
});

test("where no run comes back the command does: after two, the others of the function are not entered", async () => {
  const { runs, verdict } = await checked(
    spinning(() => true),
    20,
  );
  expect([runs, verdict]).toMatchObject([{ open: 20, checked: 20, goesOn: 0, stuck: 2, unproven: 18 }, "STUCK"]);
});

test("modules that do not load in the thread that replays are no verdict about runs", async () => {
  const failing = checked(() => ({ kind: "failed", why: "no such module", stack: "" }), 1);
  await expect(failing).rejects.toThrow(CannotReplay);
});

/** The report on a build with these functions, over a store in which the others wait. Runs are replayed as if they went on. */
async function told(
  before: Partial<FunctionOptions>[],
  after: Partial<FunctionOptions>[],
  client: Partial<IdemOptions<any>> = {},
) {
  const { idem, store, clock, client: next } = testIdem();
  const trigger = [{ event: "go" }, { cron: "0 0 1 1 *" }];
  for (const options of before) {
    idem.createFunction({ id: "", idempotency: "event.data.order", ...options }, trigger, ({ step }) =>
      step.sleep("nap", "30d"),
    );
  }
  await idem.start();
  await idem.send({ name: "go", data: { order: 7 } });
  await idem.idle();
  const fresh = next({ ...client });
  for (const options of after) {
    fresh.createFunction({ id: "", idempotency: "event.data.order", ...options }, trigger, ({ step }) =>
      step.sleep("nap", "30d"),
    );
  }
  const names = fresh["names"];
  const app = names.was?.[0] ?? names.id;
  const functions = fresh["codes"].map(({ fn, config, handlesEnd }) => ({
    app,
    env: "default",
    fn,
    config,
    code: "",
    handlesEnd,
    place: null,
    madeBy: null,
  }));
  const { functions: checkedOnes, others } = await checkDeploy({
    threads: {
      ask: async (message) => {
        const { runs } = message as Extract<ToThread, { kind: "replay" }>;
        const replays = runs.map(({ memo }) => same(memo.run.id, memo.waits[0]!.stepId));
        return { kind: "replayed", replays, heapBytes: 0 };
      },
    },
    lanes: 1,
    modules: ["new.mjs"],
    reads: (store as MemoryStore).reads,
    env: "default",
    functions,
    apps: [app],
    isWanted: () => true,
    sample: 100,
    now: clock.now(),
    onListed: () => {},
    onChecked: () => {},
  });
  return {
    others,
    all: checkedOnes
      .filter(({ runs, changes }) => runs.open > 0 || changes.length > 0)
      .map(({ id, verdict, findings, changes }) => ({ id, verdict, whys: findings.map(({ why }) => why), changes })),
  };
}

test("of a function that is renamed and says so everything goes on, and that is told", async () => {
  const onFailure = () => null;
  const { all } = await told([{ id: "bill", onFailure }], [{ id: "charge", was: "bill", onFailure }]);
  expect(all).toMatchObject([
    {
      id: "charge",
      verdict: "GOES ON",
      changes: [{ what: "function", before: "test-bill", now: "test-charge", waiting: 3, isRisk: false }],
    },
  ]);
  expect(all[0]!.changes[0]!.becomes).toBe(
    'it stays recorded under "test-bill": 1 open run, 1 schedule, 1 window, the keys of its steps and its pause go on',
  );
});

test("of one that does not say so it is told what stays behind, and what would keep it", async () => {
  const { all } = await told([{ id: "bill" }], [{ id: "charge" }]);
  expect(all).toMatchObject([
    {
      id: "bill",
      verdict: "STUCK",
      whys: [expect.stringContaining('If it is "charge" now, { id: "charge", was: "bill" } keeps them')],
      changes: [{ before: "bill", now: "charge", waiting: 3, isRisk: true }],
    },
  ]);
  expect(all[0]!.changes[0]!.becomes).toContain("1 open run, 1 schedule, 1 window");
  // Taking it away is renaming it again.
  const again = await told([{ id: "charge", was: "bill" }], [{ id: "charge" }]);
  expect(again.all).toMatchObject([
    {
      id: "charge",
      verdict: "STUCK",
      changes: [{ becomes: expect.stringContaining('{ id: "charge", was: "bill" }') }],
    },
  ]);
});

test("a renamed app is told of as its functions are, with and without `was`", async () => {
  const silent = await told([{ id: "bill" }], [{ id: "bill" }], { id: "billing" });
  expect(silent).toMatchObject({
    others: { open: 0 },
    all: [
      { verdict: "STUCK", changes: [{ becomes: expect.stringContaining('new Idem({ id: "billing", was: "test" })') }] },
    ],
  });
  const said = await told([{ id: "bill" }], [{ id: "bill" }], { id: "billing", was: "test" });
  expect(said.all).toMatchObject([
    { verdict: "GOES ON", changes: [{ before: "test-bill", now: "billing-bill", isRisk: false }] },
  ]);
  // Another app that has a function of that id is another app.
  const other = await told([{ id: "bill" }, { id: "mail" }], [{ id: "bill" }], { id: "billing" });
  expect(other).toMatchObject({ all: [], others: { apps: ["test"], open: 2 } });
});

test("`was` that forgets the first id, that the store knows nothing of, and that comes late, are told apart", async () => {
  const forgets = await told([{ id: "b", was: "a" }], [{ id: "c", was: "b" }]);
  expect(forgets.all[0]!.changes).toMatchObject([{ before: "test-a", now: "test-b", isRisk: true }]);
  const unknown = await told([{ id: "bill" }], [{ id: "bill" }, { id: "mail", was: "post" }]);
  const mail = unknown.all.find(({ id }) => id === "mail")!;
  expect(mail.changes).toMatchObject([{ before: "test-post", now: "test-mail", waiting: 0, isRisk: false }]);
  const late = await told([{ id: "charge" }], [{ id: "charge", was: ["bill", "charge"] }]);
  expect(late.all).toMatchObject([
    {
      id: "charge",
      verdict: "GOES ON",
      changes: [{ before: "test-charge", now: "test-bill", waiting: 1, isRisk: true }],
    },
  ]);
});
