import { join } from "node:path";
import { expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { testServer } from "../server/test-server.suite.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { storeWorld, temporaryFolder } from "./store-world.ts";

const dayMs = 24 * 60 * 60 * 1_000;

test("prune beside a living server goes through its socket, counts the same as its dry run, and says what is kept and why", async () => {
  const folder = temporaryFolder();
  const store = `sqlite:${join(folder, "server.db")}`;
  const server = await testServer({ store });
  const aMinuteOn = Object.create(nodePlatform, { wallMs: { value: () => nodePlatform.wallMs() + 60_000 } });
  const terminal = fakeTerminal({ cwd: folder, platform: aMinuteOn, env: { IDEM_STORE: store } });
  const events = [{ name: "order/paid" }, { name: "order/paid" }, { name: "order/paid", id: "order-7" }];
  await (await server.world.engine("default")).accept(events, dayMs, []);
  const planned = await terminal.json("prune", "--older-than", "0s", "--dry-run");
  expect(planned).toMatchObject({ isDryRun: true, deleted: { events: 2, runs: 0 }, kept: 1 });
  expect(await terminal.run("prune", "--older-than", "0s")).toBe(0);
  expect(terminal.written.out).toContain("deleted 2 events, 0 runs");
  expect(terminal.written.out).toContain("kept 1 older events that are still needed");
  expect(await terminal.json("events")).toMatchObject([{ id: expect.any(String), name: "order/paid" }]);
  expect(await terminal.json("prune", "--older-than", "0s")).toMatchObject({ deleted: { events: 0 }, kept: 1 });
});

test("prune takes years, and touches only the environment it was told", async () => {
  const { terminal, idem, platform, stop } = storeWorld();
  await idem.send({ name: "order/paid" });
  await stop();
  platform.clock.advance(800 * dayMs);
  expect(await terminal.json("prune", "--older-than", "2y", "--env", "staging")).toMatchObject({
    deleted: { events: 0 },
  });
  expect(await terminal.json("prune", "--older-than", "3y")).toMatchObject({ deleted: { events: 0 } });
  expect(await terminal.json("prune", "--older-than", "2y")).toMatchObject({ deleted: { events: 1 } });
});
