// Runs that wait for a person, and runs that lose their process again and again, as the command line shows them.
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { sqliteDriver } from "../store/sqlite/driver.ts";
import { storeWorld } from "./store-world.ts";

const reason = "its code was entered 5 times in a row without an outcome";

/** A run that sleeps, and what happened to it, as a node would have left it. */
async function troubled(columns: Readonly<Record<string, string | number | null>>) {
  const world = storeWorld({ columns: 400 });
  world.idem.createFunction({ id: "resize" }, { event: "image/uploaded" }, async ({ step }) => {
    await step.run("fetch", () => 1);
    await step.sleep("a while", "1h");
  });
  await world.idem.start();
  const { runId } = (await world.idem.send({ name: "image/uploaded" })).decisions[0]!;
  await world.idem.idle();
  await world.stop();
  const db = sqliteDriver().open(world.path, { readonly: false, busyMs: 5_000 });
  const at = world.platform.wallMs() - 60_000;
  const values = {
    ...columns,
    ...("parked_kind" in columns ? { parked_at: at, due_at: Number.MAX_SAFE_INTEGER } : {}),
  };
  const set = Object.keys(values).map((name) => `${name} = ?`);
  db.prepare(`update jobs set ${set.join(", ")}, lost_at = ?, lost_by = 'worker-7' where id = ?`).run(
    ...Object.values(values),
    at,
    runId,
  );
  db.close();
  const { terminal } = world;
  const say = async (...args: string[]) => {
    terminal.written.out = "";
    const exit = await terminal.run(...args);
    return { exit, out: stripVTControlCharacters(terminal.written.out) };
  };
  return { runId: runId!, say };
}

const parked = { parked_kind: "entries", parked_reason: reason, lost_workers: 5 };

test("a parked run is a problem to the doctor, listed by its state, and told with its reason and what to do", async () => {
  const { runId, say } = await troubled(parked);
  const doctor = await say("doctor");
  expect(doctor.exit).toBe(1);
  expect(doctor.out).toContain("1 run is parked for a person");
  expect(doctor.out).toContain(reason);
  expect(doctor.out).toContain("1 parked");
  expect((await say("runs", "--state", "parked")).out).toContain(runId);
  const run = (await say("run", runId)).out;
  expect(run).toMatch(/parked .*ago.*: its code was entered 5 times in a row without an outcome/);
  expect(run).toContain(`idem release ${runId}`);
  const story = (await say("explain", runId)).out;
  expect(story).toContain(`is parked because ${reason}`);
  expect(story).toContain("It does not go on by itself");
});

test("idem release lets a parked run go on once, and the audit says who did and why", async () => {
  const { runId, say } = await troubled(parked);
  expect(await say("release", runId, "--reason", "more memory")).toMatchObject({
    exit: 0,
    out: `run ${runId} goes on\n`,
  });
  expect((await say("run", runId)).out).toMatch(/state +queued/);
  expect((await say("audit")).out).toMatch(/release-run.*more memory/);
  expect(await say("release", runId)).toMatchObject({ exit: 1 });
});

test("a run that lost its process twice in a row is a problem to the doctor, and its story does not say that all is well", async () => {
  const { runId, say } = await troubled({ lost_workers: 2 });
  const doctor = await say("doctor");
  expect(doctor.exit).toBe(1);
  expect(doctor.out).toContain("1 run was entered again and again without an outcome");
  expect((await say("run", runId)).out).toMatch(/entered +2 times in a row without an outcome; .*worker-7/);
  expect((await say("explain", runId)).out).toContain("entered twice without an outcome");
});

test("a run that lost its process once is no problem", async () => {
  const { say } = await troubled({ lost_workers: 1 });
  expect(await say("doctor")).toMatchObject({ exit: 0 });
});
