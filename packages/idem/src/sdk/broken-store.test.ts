// A client whose store ended under it: what it says, and that it can be stopped and started again in the same process.
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteDriver } from "../store/sqlite/driver.ts";
import { troubledPlatform } from "../store/sqlite/troubled-platform.suite.ts";
import { Idem } from "./client.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-broken-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function client() {
  const { platform, setFault } = troubledPlatform({ waitMsMax: 60_000, tellAfterMs: 50 });
  const logged: string[] = [];
  const log = (...words: unknown[]) => void logged.push(words.map(String).join(" "));
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  const idem = new Idem({ id: "shop", store: `sqlite:${join(folder, "a.db")}`, platform, logger });
  idem.createFunction({ id: "bill", triggers: [{ event: "order/paid" }] }, async ({ step }) =>
    step.run("charge", () => "charged"),
  );
  return { idem, setFault, logged };
}

test("after a failed sync a client says so, lets go of its store when it is stopped, and starts again in the same process", async () => {
  const { idem, setFault, logged } = client();
  await idem.start();
  await idem.send({ name: "order/paid", id: "order-1", data: {} });
  await idem.idle();
  setFault("sync");
  await expect(idem.send({ name: "order/paid", id: "order-2", data: {} })).rejects.toMatchObject({
    code: "STORE_BROKEN",
  });
  expect(logged.some((line) => line.includes("STORE_BROKEN"))).toBe(true);
  setFault("none");
  await idem.stop({ grace: 100 });
  await idem.start();
  const { decisions } = await idem.send({ name: "order/paid", id: "order-2", data: {} });
  expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  const again = await idem.send({ name: "order/paid", id: "order-1", data: {} });
  expect(again.decisions[0]).toMatchObject({ kind: "duplicate-event" });
  await idem.stop();
});

test("a run whose store's file is gone is logged as interrupted, never as failed, and is resumed from the copy", async () => {
  const { idem, logged } = client();
  const file = join(folder, "a.db");
  let isGone = false;
  idem.createFunction({ id: "ship", triggers: [{ event: "order/packed" }] }, async ({ step }) => {
    await step.run("pack", () => "packed");
    return step.run("hand-over", async () => {
      if (isGone) return "handed over";
      isGone = true;
      for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
      await expect.poll(() => logged).toContainEqual(expect.stringContaining("everything that was acknowledged is in"));
      return "handed over";
    });
  });
  await idem.start();
  const { decisions } = await idem.send({ name: "order/packed", data: {} });
  const runId = decisions[0]!.runId!;
  const interrupted = `run interrupted, the store's file is gone: it resumes from what is stored when the store is opened again run=${runId} function="ship"`;
  await expect.poll(() => logged).toContainEqual(`idem: ${interrupted}`);
  await idem.stop({ grace: 100 });
  expect(logged.filter((line) => /\bfailed\b/.test(line))).toEqual([]);

  const [copy] = logged.flatMap((line) => /everything that was acknowledged is in (\S+?)\.? /.exec(line)?.[1] ?? []);
  renameSync(copy!, file);
  await idem.start();
  expect(await idem.runs.wait(runId)).toMatchObject({ state: "completed", output: "handed over" });
  await idem.stop();
});

test("a run in the middle of a step waits out somebody else's lock: the step is entered once, and its outcome is kept", async () => {
  const { idem, logged } = client();
  await idem.start();
  const other = sqliteDriver().open(join(folder, "a.db"), { readonly: false, busyMs: 10_000 });
  let entered = 0;
  idem.createFunction({ id: "ship", triggers: [{ event: "order/packed" }] }, async ({ step }) =>
    step.run("hand-over", () => {
      other.exec("begin immediate");
      return ++entered;
    }),
  );
  const { decisions } = await idem.send({ name: "order/packed", data: {} });
  await expect.poll(() => logged).toContainEqual(expect.stringContaining("locked"));
  other.exec("rollback");
  const { state, output } = await idem.runs.wait(decisions[0]!.runId!);
  expect({ state, output, entered }).toEqual({ state: "completed", output: 1, entered: 1 });
  await idem.stop();
  other.close();
});
