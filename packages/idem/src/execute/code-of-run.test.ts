// A run says under which code it began, and where it went on under another one.
import { describe, expect, test } from "vitest";
import { type CodeChange, codeChangeId, codeFingerprint } from "../model/code-fingerprint.ts";
import { divergenceId } from "../model/divergence.ts";
import { noValue } from "../model/step.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import type { RunMemo } from "../store/leases.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { Memo } from "./memo.ts";

type Handler = (context: any) => unknown;

const naps: Handler = async ({ step }) => {
  await step.sleep("nap", "1h");
  await step.sleep("another", "1h");
  return "old";
};
const napsElsewhere: Handler = async ({ step }) => {
  await step.sleep("nap", "1h");
  await step.sleep("another", "1h");
  return "new";
};

/** Processes one after the other over one store, each with its own code. */
function deploying(store?: string) {
  const world = testIdem(store === undefined ? {} : { store });
  const deploy = async (handler: Handler, options: Partial<FunctionOptions> = {}) => {
    const idem = world.client();
    idem.createFunction({ id: "fn", ...options }, { event: "a/b" }, handler);
    await idem.start();
    return idem;
  };
  return { ...world, deploy };
}

const told = async (idem: Awaited<ReturnType<ReturnType<typeof deploying>["deploy"]>>, runId: string) => {
  const { code, timeline } = (await idem.runs.get(runId))!;
  const changes = timeline
    .filter(({ kind }) => kind === "code-changed")
    .map(({ output }) => [(output as CodeChange).from, (output as CodeChange).to]);
  return { code, changes, keys: timeline.map(({ destinationKey }) => destinationKey) };
};

test("a run that goes on under other code says so once for each change, and its steps are as they were", async () => {
  const { deploy, clock } = deploying();
  const first = await deploy(naps);
  const { runId } = (await first.send({ name: "a/b" })).decisions[0]!;
  await first.idle();
  const { code } = await told(first, runId!);
  expect(code).toMatch(/^[\w-]{10}$/);
  await first.stop();
  const second = await deploy(napsElsewhere);
  await clock.advance("1h");
  await second.stop();
  const third = await deploy(napsElsewhere);
  await clock.advance("1h");
  await clock.tick("3s");
  expect(await third.runs.wait(runId!)).toMatchObject({ state: "completed", output: "new" });
  const { changes, keys } = await told(third, runId!);
  expect(changes).toEqual([[code, expect.not.stringMatching(code!)]]);
  expect(keys.filter((key) => key === null)).toHaveLength(1);
  const [to] = changes.map(([, to]) => to);
  const story = (await third.explain(runId!))!;
  expect(JSON.stringify(story)).toContain(`went on under other code: ${to} instead of ${code}`);
});

test("a run whose process died in its first step knows what it began under", async () => {
  const { deploy, clock } = deploying();
  const never = held();
  const first = await deploy(({ step }) => step.run("stuck", () => never.promise));
  const { runId } = (await first.send({ name: "a/b" })).decisions[0]!;
  await clock.tick(1);
  const stopping = first.stop({ grace: 0 });
  await clock.tick(1);
  await stopping;
  const second = await deploy(({ step }) => step.run("stuck", () => "done"));
  await clock.tick("3s");
  expect(await second.runs.wait(runId!)).toMatchObject({ state: "completed" });
  expect((await told(second, runId!)).changes).toHaveLength(1);
});

describe.each(stores)("on %s", (store) => {
  test("the same code has the same fingerprint in another process, and other options are other code", async () => {
    const codeOf = async (handler: Handler, options: Partial<FunctionOptions> = {}) => {
      const { deploy } = deploying(store);
      const idem = await deploy(handler, options);
      const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
      await idem.idle();
      return (await idem.runs.get(runId!))!.code;
    };
    const code = await codeOf(naps);
    expect(await codeOf(naps)).toBe(code);
    expect(await codeOf(naps, { retries: 1 })).not.toBe(code);
    expect(await codeOf(napsElsewhere)).not.toBe(code);
  });
});

test("what is written beside a run's steps takes no place among the steps it may have", () => {
  const note = { name: "", repeat: 0, outcome: noValue, attempt: 1, startedAt: 0, endedAt: 0, stamp: 1, worker: null };
  const steps = [
    { ...note, stepId: codeChangeId(1), kind: "code-changed" },
    { ...note, stepId: divergenceId("a"), kind: "diverged" },
    { ...note, stepId: "b", kind: "run" },
  ] as const;
  const memo = { run: { rerunFrom: null }, steps, attempts: [], waits: [], inputs: {} } as unknown as RunMemo;
  expect(new Memo(memo, { stepId: (name) => name }).size).toBe(1);
});

test("an app tells the fingerprint of its code with its functions", async () => {
  const registered = async (handler: Handler) => {
    const { idem, send, asked } = servedWorld();
    idem.createFunction({ id: "fn" }, { event: "a/b" }, handler);
    await send(new Request("http://127.0.0.1:3000/api/idem", { method: "PUT" }));
    return asked.find(({ path }) => path.startsWith("/fn/register"))!.body.functions[0].fingerprint;
  };
  expect(await registered(naps)).toMatch(/^[\w-]{10}$/);
  expect(await registered(naps)).toBe(await registered(naps));
  expect(await registered(napsElsewhere)).not.toBe(await registered(naps));
  expect(codeFingerprint(["a"])).not.toBe(codeFingerprint(["a", ""]));
});
