import { expect, test } from "vitest";
import { held } from "../testing/one-run.suite.ts";
import { storeWorld } from "./store-world.ts";

test("nodes lists who works on the store, how long it was not heard of and what it holds, beside the owner at work", async () => {
  const { terminal, idem, platform, stop } = storeWorld();
  const end = held();
  idem.createFunction({ id: "pack" }, { event: "order/paid" }, ({ step }) => step.run("pack", () => end.promise));
  expect(await terminal.run("nodes")).toBe(0);
  expect(terminal.written.err).toContain("No node");
  await idem.start();
  await idem.send({ name: "order/paid" });
  platform.clock.advance(3_000);
  const [worker, ...others] = await terminal.json("nodes");
  expect(others).toEqual([]);
  expect(worker).toMatchObject({
    node: expect.stringMatching(/^process \d+ on /),
    role: "all",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    isDead: false,
    leased: 1,
    startedAt: worker.beatAt,
    until: worker.beatAt + 20_000,
  });
  expect(await terminal.run("nodes")).toBe(0);
  const [title, line] = terminal.written.out.trimEnd().split("\n");
  expect(title).toMatch(/^NODE +ROLE +VERSION +HEARTBEAT +LEASES +SINCE +WORKER/);
  expect(line).toMatch(/^process \d+ on .+ all +\d\S+ +3 s ago +1 /);
  end.release();
  await idem.idle();
  platform.clock.advance(20_000);
  expect(await terminal.run("nodes")).toBe(0);
  expect(terminal.written.out).toContain("silent");
  await stop();
  expect(await terminal.run("nodes")).toBe(0);
  expect(terminal.written.out).toMatch(/ 0 +gone /);
});
