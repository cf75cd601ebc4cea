// People's deeds, over /api: found by person, deed, thing, words and time, and saved for a spreadsheet.
import { expect, test } from "vitest";
import { devActor } from "../../people/actor.ts";
import { routeWorld } from "../world.suite.ts";
import { cancelRun } from "./cancel-run.ts";
import { listAudit } from "./list-audit.ts";
import { rerunRun } from "./rerun-run.ts";
import { sendEvents } from "./send-events.ts";

async function audited() {
  const { engine, platform, ...world } = await routeWorld();
  for (const [n, actor] of ["ann", "ben", "ann", "ben"].entries()) {
    const action = n < 2 ? "cancel-run" : "release-key";
    await engine.store.audit({ env: "default", action, subject: `thing ${n}`, reason: n === 3 ? "=1+1" : "", actor });
    await platform.advance(60_000, async () => {});
  }
  const list = async (query: string) => (await world.ask(listAudit, { query })).body;
  return { list, world };
}

const iso = (at: number) => new Date(at).toISOString();

test("entries are narrowed by each word of the query and by all of them, and pages go on where the last one ended", async () => {
  const { list } = await audited();
  const subjects = async (query: string) => (await list(query)).entries.map(({ subject }: any) => subject);
  expect(await subjects("")).toEqual(["thing 3", "thing 2", "thing 1", "thing 0"]);
  expect(await subjects("actor=ann")).toEqual(["thing 2", "thing 0"]);
  expect(await subjects("action=cancel-run&actor=ann")).toEqual(["thing 0"]);
  expect(await subjects("subject=thing%201")).toEqual(["thing 1"]);
  expect(await subjects("text=THING%202")).toEqual(["thing 2"]);
  const times: number[] = (await list("")).entries.map(({ at }: any) => at);
  expect(await subjects(`since=${iso(times[2]!)}&until=${iso(times[0]!)}`)).toEqual(["thing 2", "thing 1"]);
  const { entries, next } = await list("actor=ben&limit=1");
  expect(entries[0].subject).toBe("thing 3");
  expect(await subjects(`actor=ben&limit=1&before=${next}`)).toEqual(["thing 1"]);
});

test("CSV has all that the filter lets through, and nothing in it is a formula", async () => {
  const { world } = await audited();
  const answer = await listAudit.handle(
    {
      query: new URLSearchParams("format=csv&actor=ben"),
      headers: {},
      env: "default",
      params: {},
      actor: devActor,
    } as never,
    world.world,
  );
  expect(String(answer.body).trim().split("\r\n")).toEqual([
    "time,actor,action,subject,reason",
    expect.stringMatching(/,ben,release-key,thing 3,'=1\+1$/),
    expect.stringMatching(/,ben,cancel-run,thing 1,$/),
  ]);
});

test("cancelling and rerunning are in the audit once each, and what tools send is not", async () => {
  const { engine, ask } = await routeWorld();
  await engine.accept([{ name: "nobody/listens" }], 1_000, []);
  await ask(sendEvents, { body: { events: [{ name: "nobody/listens" }] } });
  expect((await ask(listAudit)).body.entries).toEqual([]);
  for (const route of [cancelRun, rerunRun]) {
    await expect(ask(route, { params: { run: "none" }, body: {} })).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  }
  expect((await ask(listAudit)).body.entries).toEqual([]);
});
