// Acts from the command line, read again from the command line.
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { storeWorld } from "./store-world.ts";

const cli = `cli on ${hostname()}`;

test("what is done by command is in the audit with the host, the thing and the reason, newest first", async () => {
  const { idem, terminal, stop } = storeWorld({ columns: 160 });
  idem.createFunction({ id: "pay", idempotency: "event.data.order" }, { event: "order/paid" }, async ({ step }) =>
    step.sleep("a while", "1d"),
  );
  await idem.start();
  const { decisions } = await idem.send({ name: "order/paid", data: { order: 7 } });
  await idem.idle();
  await stop();
  const runId = decisions[0]!.runId!;
  expect(await terminal.run("pause", "pay", "--reason", "wrong price")).toBe(0);
  expect(await terminal.run("resume", "pay")).toBe(0);
  expect(await terminal.run("cancel", runId, "--reason", "ordered by mistake")).toBe(0);
  const rerun = await terminal.json("rerun", runId);
  expect(await terminal.run("keys", "--release", "7", "--function", "pay", "--reason", "paid by hand")).toBe(0);
  const rows = await terminal.json("audit");
  expect(rows.map(({ actor, action, subject, reason }: any) => [actor, action, subject, reason])).toEqual([
    [cli, "release-key", "fn:shop-pay 7", "paid by hand"],
    [cli, "rerun-run", runId, `as ${rerun.runId}`],
    [cli, "cancel-run", runId, "ordered by mistake"],
    [cli, "resume-function", "shop-pay", ""],
    [cli, "pause-function", "shop-pay", "wrong price"],
  ]);
  const older = await terminal.json("audit", "--limit", "2", "--before", rows[2].id);
  expect(older.map(({ action }: any) => action)).toEqual(["resume-function", "pause-function"]);
  expect(await terminal.run("audit", "--limit", "1")).toBe(0);
  expect(terminal.written.out).toContain("release-key");
  expect(terminal.written.err).toContain("There may be more");
});

test("a store in which nobody did anything says so", async () => {
  const { idem, terminal, stop } = storeWorld();
  await idem.start();
  await stop();
  expect(await terminal.run("audit")).toBe(0);
  expect(terminal.written.err).toContain("Nobody did anything by hand yet");
});
