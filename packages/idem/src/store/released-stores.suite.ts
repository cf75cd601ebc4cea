// Stores of every schema that was on main, opened with today's code: what they knew is there, and what waited goes on.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { Idem } from "../sdk/client.ts";
import { defineShop, madeAt, noted, paid, shipped } from "./released-shop.suite.ts";
import type { Store } from "./store.ts";

export interface ReleasedStore {
  /** Its schema's version and the commit that made it. */
  readonly name: string;
  readonly version: number;
  readonly sql: string;
}

export function releasedStores(database: "sqlite" | "postgres"): ReleasedStore[] {
  const folder = fileURLToPath(new URL(`../../fixtures/released/${database}`, import.meta.url));
  return readdirSync(folder)
    .map((file) => file.replace(/\.sql$/, ""))
    .map((name) => ({ name, version: Number.parseInt(name, 10), sql: readFileSync(`${folder}/${name}.sql`, "utf8") }))
    .sort((a, b) => a.version - b.version);
}

/** Two hours after the stores were made: sleeps and retries of an hour are due, windows of a day are open. */
export function twoHoursLater(): Platform {
  const begun = nodePlatform.monoMs();
  const wallMs = () => madeAt + 2 * 3_600_000 + Math.round(nodePlatform.monoMs() - begun);
  return { ...nodePlatform, wallMs };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function expectCarriedForward(store: Store, platform: Platform, { sql }: ReleasedStore): Promise<void> {
  const idem = new Idem({ id: "shop", store, platform, logger: silent, radar: false });
  onTestFinished(() => idem.stop({ grace: 0 }));
  const entered: string[] = [];
  defineShop(idem, { entered, isBankOpen: true });
  const known = new Map((await idem.runs.list()).map((run) => [run.function, run]));
  const runOf = (name: string) => known.get(name)!;
  expect([...known.keys()].sort()).toEqual(["charge", "refund", "remind", "ship"]);
  expect(runOf("charge")).toMatchObject({ state: "completed" });
  expect(await idem.runs.wait(runOf("charge").id)).toMatchObject({ output: "card" });

  await idem.start();
  // Nothing that was done is done again; what waited for a time goes on from there.
  expect(await idem.runs.wait(runOf("remind").id)).toMatchObject({ state: "completed", output: "mail" });
  expect(await idem.runs.wait(runOf("refund").id)).toMatchObject({ state: "completed", output: "paid back" });
  expect(await store.reads.claim("default", "fn:shop-ship", "7")).toMatchObject({ held: true, state: "in-flight" });
  await idem.send(shipped);
  expect(await idem.runs.wait(runOf("ship").id)).toMatchObject({ state: "completed", output: "thank" });
  expect(entered.sort()).toEqual(["mail", "pay-back", "thank"]);
  // Its key is held no longer than its run is open.
  expect(await store.reads.claim("default", "fn:shop-ship", "7")).toMatchObject({ held: false, state: "settled" });
  const waits = await Promise.all([...known.values()].map(({ id }) => store.reads.runMemo("default", id)));
  expect(waits.flatMap((memo) => memo!.waits)).toEqual([]);

  // An event's id and a function's key are remembered.
  const again = await idem.send(paid);
  expect(again.decisions.map(({ kind, runId }) => [kind, runId])).toEqual(
    ["charge", "refund", "remind", "ship"].map((name) => ["duplicate-event", runOf(name).id]),
  );
  const other = await idem.send({ ...paid, id: "another" });
  const ofCharge = other.decisions.find(({ function: name }) => name === "charge");
  expect(ofCharge).toMatchObject({ kind: "duplicate-key", runId: runOf("charge").id });

  if (sql.includes("into settings")) {
    expect(await store.reads.settings("default", "source")).toMatchObject([
      { name: "stripe", value: "{}", version: 1 },
    ]);
  }
  if (sql.includes(noted.id)) {
    const names = async () => (await idem.events.list()).map(({ name }) => name);
    await expect.poll(names).toContain(noted.name);
  }
}
