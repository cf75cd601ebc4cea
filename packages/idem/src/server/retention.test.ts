import { expect, test } from "vitest";
import { limits } from "../engine/limits.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { testServer } from "./test-server.suite.ts";

const dayMs = 24 * 60 * 60 * 1_000;

test("a server's retention holds in every environment it has", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const { world } = await testServer({ retentionMs: 30 * dayMs }, { platform, store });
  const settle = async () => {
    for (const engine of world.engines.values()) await engine.idle();
  };
  for (const env of ["default", "staging"]) {
    await (await world.engine(env)).accept([{ name: "order/paid" }], dayMs, []);
  }
  await platform.advance(31 * dayMs, settle);
  const { events } = await (await world.engine("staging")).accept([{ name: "order/paid" }], dayMs, []);
  await platform.advance(limits.retentionPauseMs, settle);
  expect(await store.reads.events("default", { limit: 10 })).toEqual([]);
  expect((await store.reads.events("staging", { limit: 10 })).map(({ id }) => id)).toEqual([events[0]!.id]);
});
