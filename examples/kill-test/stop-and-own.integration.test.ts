// Processes that leave politely, and processes that meet at one file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Idem } from "idem";
import { expect, onTestFinished, test } from "vitest";
import seeds from "../../proof/seeds.json" with { type: "json" };
import { chanceOf } from "./chance.mjs";
import { gatherEvidence } from "./evidence.ts";
import { type Task, WorkerLife } from "./worker-life.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "idem-stop-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startLife(task: Pick<Task, "folder"> & Partial<Task>): WorkerLife {
  const worker = new WorkerLife({ seed: 1, life: 1, stallAfter: null, deliveriesMax: null, ...task });
  onTestFinished(async () => {
    await worker.end("SIGKILL");
  });
  return worker;
}

test("a graceful stop loses nothing and repeats nothing", async () => {
  const folder = newFolder();
  for (const life of [1, 2, 3]) {
    const worker = startLife({ folder, life });
    await worker.untilEffects("enter", 20 * life);
    expect(await worker.end("SIGTERM")).toEqual({ code: 0, signal: null, errors: "" });
  }
  expect(await startLife({ folder, life: 4, deliveriesMax: 10 }).ended).toMatchObject({ code: 0 });

  const { effects, intents, acknowledged, runs } = await gatherEvidence(folder);
  expect([...intents].filter((n) => !acknowledged.has(n))).toEqual([]);
  expect(runs.filter(({ state }) => state !== "completed")).toEqual([]);
  const steps = runs.flatMap((run) => run.timeline.map(({ name }) => `${run.id} ${name}`)).sort();
  const did = (wanted: string) =>
    effects
      .filter(({ what }) => what === wanted)
      .map(({ run, step }) => `${run} ${step}`)
      .sort();
  expect(did("enter")).toEqual(steps);
  expect(did("leave")).toEqual(steps);
  expect(steps).toHaveLength(runs.length * 3);
  // Otherwise the stops would have met an idle worker.
  expect(new Set(effects.map(({ life }) => life))).toEqual(new Set([1, 2, 3, 4]));
});

test("a client that is stopped again and again in the middle of its work enters every step once", {
  timeout: 300_000,
}, async () => {
  const store = `sqlite:${join(newFolder(), "idem.db")}`;
  const seed = Number(process.env.KILL_SEED ?? seeds.crash.examples);
  const chance = chanceOf(seed);
  const entered: string[] = [];
  let stopAt = 0;
  let stopNow = () => {};
  const openClient = () => {
    const idem = new Idem({ id: "shop", store, runsInFlight: 4 });
    idem.createFunction({ id: "fulfil", retries: 0 }, { event: "order/paid" }, async ({ event, step }) => {
      for (const name of ["reserve", "charge", "ship"]) {
        await step.run(name, async () => {
          entered.push(`${event.data.order} ${name}`);
          if (entered.length >= stopAt) stopNow();
          for (let turns = Math.floor(1 + chance() * 40); turns > 0; turns--) await setImmediate();
        });
      }
    });
    return idem;
  };

  const sender = openClient();
  await sender.send(Array.from({ length: 60 }, (_, order) => ({ name: "order/paid", data: { order } })));
  await sender.stop();
  for (let stops = 0; entered.length < 180; stops++) {
    expect(stops, `KILL_SEED=${seed}: stops until all was done`).toBeLessThan(180);
    const idem = openClient();
    stopAt = Math.min(180, entered.length + 1 + Math.floor(chance() * 12));
    const isTime = new Promise<void>((resolve) => {
      stopNow = resolve;
    });
    await idem.start();
    await isTime;
    await idem.stop();
  }
  const twice = entered.filter((step, i) => entered.indexOf(step) !== i);
  expect(twice, `KILL_SEED=${seed}`).toEqual([]);
});

test("a second process learns who owns the file; once the owner is dead it takes the file at once", async () => {
  const folder = newFolder();
  const owner = startLife({ folder });
  await owner.untilStarted();

  const second = new Idem({ id: "shop", store: `sqlite:${join(folder, "idem.db")}` });
  onTestFinished(() => second.stop());
  const refused = await second.runs.list().catch((error) => error);
  expect(refused).toMatchObject({ code: "STORE_OWNED" });
  expect(refused.message).toContain(`process ${owner.pid} `);

  await owner.untilEffects("enter", 1);
  await owner.end("SIGKILL");
  // One try: there is no lock to wait for.
  expect(await second.runs.list()).not.toEqual([]);
});
