// What many runs do off the hot path goes together too: they invoke, are woken, are taken up again, begin under a limit. Each is answered as
// it would be alone, and one that something else is to be done for keeps none of the others.
import { describe, expect, test } from "vitest";
import {
  end,
  env,
  eventWait,
  fn,
  forever,
  laneOf,
  newEvent,
  newStep,
  runJob,
  runWait,
  startFlow,
  startPair,
  timeWait,
  value,
  type World,
} from "../../contract/world.ts";
import { upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const invoke = (world: World, parent: string, child: string, key: string | null = null, fence = 1) =>
  world.advance(parent, {
    fence,
    ingest: { registration: null, events: [newEvent(`call of ${parent}`)], pairs: [startPair(child, { key })] },
    waits: [runWait("w")],
    next: forever,
  });

describe("runs that invoke at once", () => {
  test("each wait for a run of their own, and children that end at once wake them, each with its result", async () => {
    const { nodes, rows } = await open();
    const all = upTo(12);
    const worldOf = (n: number) => nodes[n % 2]!.world;
    await Promise.all(all.map((n) => worldOf(n).startLeased(`parent${n}`)));
    const answers = await Promise.all(all.map((n) => invoke(worldOf(n), `parent${n}`, `child${n}`)));
    expect(answers.map(({ leased, ingested }) => [leased, ingested!.decisions[0]!.kind, ingested!.queued])).toEqual(
      all.map(() => [false, "started", true]),
    );
    const { jobs } = await nodes[0].world.lease("w1");
    expect(jobs.map(({ jobId }) => jobId).sort()).toEqual(all.map((n) => `child${n}`).sort());
    const ended = await Promise.all(
      jobs.map(({ jobId, fence }) =>
        nodes[0].world.advance(jobId, { fence, next: end("completed", JSON.stringify(jobId)) }),
      ),
    );
    expect(ended.flatMap(({ woken }) => woken.map(({ runId }) => runId)).sort()).toEqual(
      all.map((n) => `parent${n}`).sort(),
    );
    const again = await nodes[1].world.lease("w2");
    expect(
      again.jobs.map((job) => [job.jobId, runJob(job).memo.steps[0]!.outcome.json, runJob(job).memo.waits]).sort(),
    ).toEqual(all.map((n) => [`parent${n}`, `"child${n}"`, []]).sort());
    expect(await rows("select 1 from .waits")).toEqual([]);
    expect(await rows("select distinct child_run_id = replace(run_id, 'parent', 'child') as same from .steps")).toEqual(
      [{ same: true }],
    );
    expect(nodes.flatMap(({ wire }) => wire.errors)).toEqual([]);
  });

  test("one key have one run between them, which wakes all of them", async () => {
    const { nodes, rows } = await open();
    const all = upTo(6);
    await Promise.all(all.map((n) => nodes[n % 2]!.world.startLeased(`parent${n}`)));
    await Promise.all(all.map((n) => invoke(nodes[n % 2]!.world, `parent${n}`, `child${n}`, '"one"')));
    expect(await rows("select count(*)::int as runs from .runs where id like 'child%'")).toEqual([{ runs: 1 }]);
    const { jobs } = await nodes[0].world.lease("w1");
    const { woken } = await nodes[0].world.advance(jobs[0]!.jobId, { fence: 1, next: end("completed", "7") });
    expect(woken.map(({ runId }) => runId).sort()).toEqual(all.map((n) => `parent${n}`).sort());
    for (const n of all) expect(await nodes[1].world.outcome(`parent${n}`, "w")).toEqual(value(7));
  });

  test("with one that is no longer its worker's, or that has news, are not held up by it", async () => {
    const { nodes } = await open();
    const { world } = nodes[0];
    for (const id of ["lost", "heard", "plain"]) await world.startLeased(id);
    await world.advance("heard", { steps: [newStep("s")], asNews: true });
    const answers = await Promise.all([
      world.tryAdvance("lost", { ...invoking("lost"), fence: 7 }),
      invoke(world, "heard", "child of heard"),
      invoke(world, "plain", "child of plain"),
    ]);
    expect(answers.map((answer) => (answer.kind === "advanced" ? answer.leased : answer.kind))).toEqual([
      "fenced",
      true,
      false,
    ]);
    expect(await world.store.reads.run(env, "child of lost")).toBeNull();
    expect(await world.store.reads.run(env, "child of plain")).toMatchObject({ state: "queued" });
  });
});

const invoking = (parent: string) => ({
  ingest: { registration: null, events: [newEvent(`call of ${parent}`)], pairs: [startPair(`child of ${parent}`)] },
  waits: [runWait("w")],
  next: forever,
});

describe("events that reach runs at once", () => {
  test("wake each its own, and of two for one wait only one does", async () => {
    const { nodes, rows } = await open();
    const { world } = nodes[0];
    const all = upTo(10);
    await Promise.all(all.map((n) => world.startWaiting(`r${n}`, [eventWait("w")])));
    const events = [...all, ...all].map((n, i) => ({ id: `e${i}`, runId: `r${n}` }));
    await Promise.all(
      events.map(({ id }) => world.ingest([newEvent(id, { name: "order/shipped" })], [], { leaseTo: "w2" })),
    );
    const answers = await Promise.all(
      events.map(({ id, runId }) =>
        world.store.resume({
          env,
          jobId: `deliver:${id}`,
          fence: 1,
          waits: [{ runId, stepId: "w" }],
          outcome: value(id),
        }),
      ),
    );
    const woken = answers.flatMap((answer) => (answer.kind === "resumed" ? answer.woken : []));
    expect(woken.map(({ runId }) => runId).sort()).toEqual(all.map((n) => `r${n}`).sort());
    expect(await rows("select 1 from .waits union all select 1 from .jobs where kind = 'deliver'")).toEqual([]);
    const again = await world.store.resume({
      env,
      jobId: "deliver:e0",
      fence: 1,
      waits: [{ runId: "r0", stepId: "w" }],
      outcome: value("again"),
    });
    expect(again).toEqual({ kind: "fenced" });
  });

  test("are looked up together, each by what it says", async () => {
    const { nodes } = await open();
    const { world } = nodes[0];
    const all = upTo(8);
    await Promise.all(
      all.map((n) => world.startWaiting(`r${n}`, [eventWait("w", { path: "data.n", value: String(n) })])),
    );
    await Promise.all(all.map((n) => world.ingest([newEvent(`e${n}`, { name: "order/shipped" })], [])));
    const found = await Promise.all(
      all.map((n) => world.store.reads.waitCandidates(env, `e${n}`, [{ path: "data.n", value: String(n) }])),
    );
    expect(found.map((list) => list.map(({ runId }) => runId))).toEqual(all.map((n) => [`r${n}`]));
    expect(await Promise.all(all.map((n) => world.store.reads.run(env, n === 3 ? "nobody" : `r${n}`)))).toMatchObject(
      all.map((n) => (n === 3 ? null : { id: `r${n}` })),
    );
  });
});

describe("sleeps", () => {
  test("that are over before they begin are news to their runs, beside others that are not", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    const { world } = nodes[0];
    const all = upTo(6);
    await Promise.all(all.map((n) => world.startLeased(`r${n}`)));
    const answers = await Promise.all(
      all.map((n) =>
        world.advance(`r${n}`, { waits: [timeWait("w", clock.wallMs() + (n % 2 === 0 ? 0 : 50))], next: forever }),
      ),
    );
    expect(answers.map(({ leased, news }) => [leased, news.map(({ stepId }) => stepId)])).toEqual(
      all.map((n) => (n % 2 === 0 ? [true, ["w"]] : [false, []])),
    );
    expect(answers[0]!.seen).toBe(answers[0]!.news[0]!.stamp);
    expect((await world.memo("r0")).steps).toEqual(answers[0]!.news);
    expect(await rows("select count(*)::int as waits from .waits")).toEqual([{ waits: 3 }]);
  });

  test("of many runs that end with one lease leave each run its outcome, and what it still waits for", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    const { world } = nodes[0];
    const all = upTo(7);
    const now = clock.wallMs();
    for (const n of all) {
      await world.startWaiting(`r${n}`, [timeWait("b", now + 20), timeWait("a", now + 10), timeWait("c", now + 99)]);
    }
    clock.advance(20);
    const { jobs } = await world.lease("w1");
    const told = jobs.map((job) => {
      const { memo } = runJob(job);
      return [job.jobId, memo.steps.map(({ stepId }) => stepId), memo.waits.map(({ stepId }) => stepId)];
    });
    expect(told.sort()).toEqual(all.map((n) => [`r${n}`, ["a", "b"], ["c"]]));
    expect(await rows("select count(*)::int as waits from .waits")).toEqual([{ waits: 7 }]);
  });
});

test("starts that share a commit do not exceed a limit, and who has no slot stands in line", async () => {
  const { nodes, rows } = await open();
  const flow = startFlow({ lane: laneOf({ slot: 3 }) });
  const all = upTo(10);
  await Promise.all(all.map((n) => nodes[n % 2]!.world.start(`r${n}`, { flow, leaseTo: "w1" })));
  expect(await rows("select leased_by, count(*)::int as jobs from .jobs group by 1 order by 1")).toEqual([
    { leased_by: "w1", jobs: 3 },
    { leased_by: null, jobs: 7 },
  ]);
  const caps = { [fn]: { slots: [3], throttle: null } };
  expect((await nodes[0].world.lease("w2", { caps })).jobs).toEqual([]);
});

test("twenty thousand runs can be asked for at once, and each is answered", async () => {
  const { nodes } = await open();
  const { world } = nodes[0]!;
  await world.startLeased("r");
  const asked = upTo(20_000).map((n) => world.store.reads.run(env, n % 2 === 0 ? "r" : "none"));
  const found = await Promise.all(asked);
  expect(found.filter((run) => run?.id === "r")).toHaveLength(10_000);
  expect(found.filter((run) => run === null)).toHaveLength(10_000);
});
