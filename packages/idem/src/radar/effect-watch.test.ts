import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { EffectWatch } from "./effect-watch.ts";
import { makeRule } from "./rules.ts";
import { sendEffect } from "./sent-effect.suite.ts";

const env = "default";
const rule = makeRule("twice", { what: "effects", within: "60s" });

test("two effects for one entity within the rule's time are found once, page by page among 1,200 others", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const now = platform.wallMs();
  for (let i = 0; i < 1_200; i++) await sendEffect(store, `order-${1_000 + i}`, `k${i}`, now);
  await sendEffect(store, "order-1499", "again", now);
  await sendEffect(store, "order-1700", "late-1", now);
  await platform.advance(61_000, async () => {});
  await sendEffect(store, "order-1701", "late-2", now);
  const watch = new EffectWatch();
  const looks = [];
  for (let look = 0; look < 8; look++) looks.push(await watch.look(store.reads, env, [rule], platform.wallMs()));
  const found = looks.flat();
  expect(found.map(({ pairs }) => JSON.parse(pairs[0]!.entity)).sort()).toEqual([
    "stripe: order-1499",
    "stripe: order-1700",
  ]);
  expect(found[0]).toMatchObject({ kind: "rule", about: "rule:twice", facts: { of: "run", what: "effects" } });
  expect(new Set([found[0]!.pairs[0]!.firstId, found[0]!.pairs[0]!.laterId])).toEqual(
    new Set(["run-k499", "run-again"]),
  );
});

test("nothing is read where no rule is about effects, and a rule counts effects by their entity only", async () => {
  const reads = { claims: () => Promise.reject(new Error("read")) };
  expect(await new EffectWatch().look(reads, env, [makeRule("runs", { of: "key" })], 0)).toEqual([]);
  expect(() => makeRule("wrong", { what: "effects", of: "key" })).toThrow("effects are counted by");
  expect(() => makeRule("wrong", { what: "runs", of: "entity" })).toThrow("effects are counted by");
  expect(() => makeRule("wrong", { what: "effects", function: "shop-bill" })).toThrow("effects are counted by");
});
