// What the command does around replays: with threads that are played here.
import { expect, test } from "vitest";
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
