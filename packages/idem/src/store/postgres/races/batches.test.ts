// What is decided together: buffers that two nodes fill, ticks that three nodes fire, calls that share a commit, and the clock they share.
import { describe, expect, test } from "vitest";
import { channelBounds } from "../../channels.ts";
import {
  end,
  env,
  eventWait,
  fn,
  forever,
  newEvent,
  newStep,
  newTick,
  runJob,
  startFlow,
  startPair,
  timeWait,
  type World,
} from "../../contract/world.ts";
import type { Ticked } from "../../flow.ts";
import { commit, type Node, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const hourMs = 60 * 60 * 1_000;

describe("a batch of events", () => {
  const flow = (maxSize: number, key = "b") =>
    startFlow({ buffer: { kind: "batch", key, maxSize, timeoutMs: 1_000, bytesMax: 1_000_000 } });

  test("that two nodes fill at once has its size, and every event is in one of them", async () => {
    const { nodes, rows } = await open();
    await Promise.all(upTo(23).map((n) => nodes[n % 2]!.world.start(`r${n}`, { key: `"k${n}"`, flow: flow(5) })));
    const sizes =
      "select carried, count(e.event_id)::int as events from .runs r join .run_events e on e.run_id = r.id group by r.env, r.id, r.carried";
    expect(await rows(`select distinct * from (${sizes}) x`)).toEqual([{ carried: 5, events: 5 }]);
    expect(
      await rows("select count(*)::int as events, count(distinct event_id)::int as each from .run_events"),
    ).toEqual([{ events: 20, each: 20 }]);
    expect(await rows("select count, (select count(*)::int from .buffer_items) as items from .buffers")).toEqual([
      { count: 3, items: 3 },
    ]);
  });

  test("that is full as its time is over becomes one run, whoever starts it", async () => {
    const { nodes, rows, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    for (const n of upTo(10)) {
      await a.world.start(`r${n}-0`, { flow: flow(3) });
      await b.world.start(`r${n}-1`, { flow: flow(3) });
      clock.advance(1_000);
      const leasing = n % 2 === 0 ? a.world.lease("w1") : null;
      await b.world.start(`r${n}-2`, { flow: flow(3) });
      const jobs = [...(await (leasing ?? a.world.lease("w1"))).jobs];
      // The third event may have come too late, into the next batch.
      clock.advance(1_000);
      jobs.push(...(await a.world.lease("w1")).jobs);
      const carried = jobs.flatMap((job) => runJob(job).memo.events.map(({ id }) => id));
      expect(carried.sort()).toEqual([0, 1, 2].map((i) => `event of r${n}-${i}`));
      for (const { jobId, fence } of jobs) await a.world.advance(jobId, { fence, next: end("completed") });
    }
    expect(await rows("select 1 from .buffers union all select 1 from .buffer_items")).toEqual([]);
  });

  test("whose flush two nodes begin at once is flushed once", async () => {
    const { nodes, rows, clock } = await open({ clock: "manual", nodes: 3 });
    for (const n of upTo(30)) await nodes[n % 3]!.world.start(`r${n}`, { flow: flow(100, `b${n % 10}`) });
    clock.advance(1_000);
    const answers = await Promise.all(nodes.map(({ world }, n) => world.lease(`w${n}`)));
    expect(answers.flatMap(({ jobs }) => jobs)).toHaveLength(10);
    expect(await rows("select distinct carried from .runs")).toEqual([{ carried: 3 }]);
  });
});

describe("a debounce", () => {
  test("that events of two nodes put off becomes one run, with the newest of them", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const flow = startFlow({ buffer: { kind: "debounce", key: "d", periodMs: 1_000, timeoutMs: null } });
    await Promise.all(upTo(12).map((n) => nodes[n % 2]!.world.start(`r${n}`, { flow }, { ts: n })));
    clock.advance(1_000);
    const answers = await Promise.all(nodes.map(({ world }, n) => world.lease(`w${n}`)));
    const jobs = answers.flatMap((answer) => answer.jobs);
    expect(jobs).toHaveLength(1);
    expect(runJob(jobs[0]).memo.event.id).toBe("event of r11");
  });
});

describe("a tick", () => {
  const at = (world: World, tickAt: number, crons: readonly string[] = ["c"], speaksFor: string | null = null) =>
    world.store.tick({
      env,
      registration: null,
      ticks: crons.map((cron) => ({ ...newTick(cron, tickAt), speaksFor })),
      leaseTo: null,
    }) as Promise<Ticked>;
  const firedBy = (answers: readonly Ticked[]) => answers.reduce((sum, { fired }) => sum + fired.length, 0);

  test("that three nodes fire at once is fired once, also when the clock was set back or ahead by 25 hours", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual", nodes: 3 });
    await nodes[0].world.register({ [fn]: ["c"] });
    let ticks = 0;
    for (const stepMs of [0, 0, -25 * hourMs, 0, 25 * hourMs, 25 * hourMs, 0]) {
      clock.stepWall(stepMs);
      clock.advance(60_000);
      // What each node takes the time to be, by its own reading.
      const { now } = await nodes[0].world.store.heartbeat("w", 1_000);
      const answers = await Promise.all(nodes.map(({ world }) => at(world, now)));
      const again = await Promise.all(nodes.map(({ world }) => at(world, now - 60_000)));
      expect([firedBy(answers), firedBy(again)]).toEqual([1, 0]);
      ticks++;
    }
    expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: ticks }]);
  });

  test("of two schedules of one function that meet, fired by two nodes at once, is one, and keeps what both say", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    await nodes[0].world.register({ [fn]: ["c1", "c2"] });
    for (const _ of upTo(8)) {
      clock.advance(60_000);
      const answers = await Promise.all(
        nodes.map(({ world }, side) => at(world, clock.wallMs(), [`c${side + 1}`], "two were missed")),
      );
      expect(firedBy(answers)).toBe(1);
      expect(answers.flatMap(({ decisions }) => decisions)).toHaveLength(1);
    }
    expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 8 }]);
    expect(await rows("select distinct reason like '%two were missed%' as is_kept from .decisions")).toEqual([
      { is_kept: true },
    ]);
  });
});

describe("calls that share a commit", () => {
  /** So many starts, and one that cannot be stored: they go together. */
  const sendAll = ({ world }: Node, count: number, faulty: boolean) =>
    Promise.allSettled([
      ...upTo(count).map((n) => world.start(`r${n}`, { key: `"k${n}"` }, { callerId: `id${n}` })),
      ...(faulty ? [world.start("faulty", { key: '"faulty"', rank: Number.NaN })] : []),
    ]);
  const started = (answers: readonly PromiseSettledResult<{ kind: string; runId: string | null }>[]) =>
    answers.map((answer) => (answer.status === "fulfilled" ? `${answer.value.kind} ${answer.value.runId}` : "refused"));

  test("that give runs back as they begin to wait, and that end runs which waited, leave none to be done alone", async () => {
    const { nodes, rows } = await open();
    const [{ world, wire }] = nodes;
    const runs = upTo(4).map((n) => `r${n}`);
    for (const runId of runs) await world.startLeased(runId);
    const alone = () =>
      [...wire.sent.keys()].filter((sql) => /^\s*(insert into \S*waits|delete from \S*jobs)/.test(sql));
    wire.sent.clear();
    await Promise.all(runs.slice(1).map((runId) => world.advance(runId, { waits: [eventWait("w")], next: forever })));
    expect(alone()).toEqual([]);
    expect(await rows("select leased_by, had_waits from .jobs where id <> 'r0'")).toEqual(
      upTo(3).map(() => ({ leased_by: null, had_waits: 1 })),
    );
    await world.advance("r0", { waits: [eventWait("w")] });
    wire.sent.clear();
    await world.advance("r0", { next: end("completed") });
    expect(alone()).toEqual([]);
    expect(await rows("select run_id from .waits where run_id = 'r0'")).toEqual([]);
  });

  test("suffer nothing from one of them that cannot be stored", async () => {
    const { nodes, rows } = await open();
    const answers = started(await sendAll(nodes[0], 6, true));
    expect(answers).toEqual([...upTo(6).map((n) => `started r${n}`), "refused"]);
    expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 6 }]);
    expect(await rows("select 1 from .claims where key = '\"faulty\"'")).toEqual([]);
    expect(await rows("select 1 from .events where id = 'event of faulty'")).toEqual([]);
  });

  for (const fate of ["cut", "lost"] as const) {
    test(`whose commit was ${fate === "cut" ? "never sent" : "done while nobody heard of it"}: all are told that they are stored, once`, async () => {
      const { nodes, rows } = await open();
      const [a, b] = nodes;
      const met = a.wire.next(commit, fate);
      const sending = sendAll(a, 6, false);
      await met;
      expect(started(await sending)).toEqual(upTo(6).map((n) => `started r${n}`));
      // The same calls again, from another node.
      expect(started(await sendAll(b, 6, false))).toEqual(upTo(6).map((n) => `started r${n}`));
      expect(await rows("select count(*)::int as claims, sum(asked)::int as asked from .claims")).toEqual([
        { claims: 12, asked: 12 },
      ]);
      expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 6 }]);
    });
  }

  test("whose session the server ended in the middle: nothing of them is there, until they were asked again", async () => {
    const { nodes, rows, begin, untilWaiting } = await open();
    const [a, b] = nodes;
    await b.world.start("holder", { key: '"k3"' });
    // A key that is taken would be waited for by nobody.
    await b.world.releaseByHand('"k3"');
    const outsider = await begin();
    await outsider.query("select 1 from .claims for update");
    const sending = sendAll(a, 6, false);
    await untilWaiting(1);
    const ended = await rows(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'",
      a.applicationName,
    );
    expect(ended).toHaveLength(1);
    await untilWaiting(1);
    expect(await rows("select id from .runs")).toEqual([{ id: "holder" }]);
    await outsider.end();
    expect(started(await sending)).toEqual(upTo(6).map((n) => `started r${n}`));
    expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 7 }]);
  });

  test("and one decided by an older picture, for the same event: what the newer one says counts", async () => {
    const { nodes } = await open();
    const [a] = nodes;
    const { registration } = (await a.world.register({ [fn]: [] })) as { registration: number };
    const ask = (runId: string, given: number) =>
      a.world.store.ingest({
        env,
        registration: given,
        events: [newEvent("e")],
        pairs: [startPair(runId)],
        leaseTo: null,
      });
    const [old, current] = await Promise.all([ask("old", registration - 1), ask("new", registration)]);
    expect(old).toEqual({ kind: "stale-registration", registration });
    expect(current).toMatchObject({ kind: "ingested", decisions: [{ runId: "new" }] });
  });
});

describe("a server whose clock was set back", () => {
  test("by some seconds: a wait that one node began counts an event that another one, which is behind, receives", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await Promise.all(nodes.map(({ world }) => world.store.heartbeat("w", 1_000)));
    clock.advance(100);
    await a.world.startLeased("r");
    clock.stepWall(-3_000);
    await a.world.advance("r", { waits: [eventWait("w")], next: forever });
    clock.advance(1);
    await b.world.ingest([newEvent("e", { name: "order/shipped" })]);
    expect(await b.world.store.reads.waitCandidates(env, "e", [])).toMatchObject([{ runId: "r" }]);
  });

  test("by some seconds: what a run records after it changed hands is later than what it had", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await b.world.store.heartbeat("w2", 60_000);
    clock.advance(4_000);
    await a.world.startLeased("r");
    await a.world.advance("r", { steps: [newStep("first")] });
    clock.stepWall(-4_500);
    await a.world.store.handBack("w1");
    const { fence } = runJob((await b.world.lease("w2")).jobs[0]);
    await b.world.advance("r", { worker: "w2", fence, steps: [newStep("second")] });
    expect((await b.world.memo("r")).steps.map(({ stepId }) => stepId)).toEqual(["first", "second"]);
  });

  test("by an hour does not stop the time of a busy node: its sleeps end, at half the speed", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a] = nodes;
    await a.world.startWaiting("asleep", [timeWait("s", clock.wallMs() + 20)]);
    await a.world.startLeased("busy");
    clock.stepWall(-hourMs);
    for (const n of upTo(40)) {
      clock.advance(1);
      await a.world.advance("busy", { steps: [newStep(`s${n}`)] });
      await a.world.store.heartbeat("w1", 1_000);
    }
    expect((await a.world.lease("w1")).jobs.map(({ jobId }) => jobId)).toEqual(["asleep"]);
  });

  test("ahead, seen by two nodes at once: no window is shorter for it", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await Promise.all(nodes.map(({ world }) => world.store.heartbeat("w", 1_000)));
    await a.world.start("r0", { key: '"k"', windowMs: 24 * hourMs });
    clock.stepWall(25 * hourMs);
    const ask = (name: string) =>
      Promise.all(
        [a, b].map(
          async ({ world }, n) => (await world.start(`${name}${n}`, { key: '"k"', windowMs: 24 * hourMs })).kind,
        ),
      );
    expect(await ask("stepped")).toEqual(["duplicate-key", "duplicate-key"]);
    clock.advance(24 * hourMs - 1);
    expect(await ask("early")).toEqual(["duplicate-key", "duplicate-key"]);
    clock.advance(1);
    expect((await ask("now")).sort()).toEqual(["duplicate-key", "started"]);
  });
});

describe("a channel", () => {
  const channel = "order:7";
  const say = ({ world }: Node, id: string) =>
    world.store.publish({ env, channel, messages: [{ id, topic: null, body: id }] });
  const room = { limit: 1_000, bytes: 1_000_000 };
  const read = async ({ world }: Node, after = 0) =>
    (await world.store.reads.messages(env, channel, after, room))?.messages ?? [];

  test("that two nodes publish to is never read past a message that comes later", async () => {
    const { nodes } = await open();
    const ids = upTo(40).map((n) => `m${n}`);
    let isOver = false;
    const heard: { place: number; body: string }[] = [];
    const reading = (async () => {
      do for (const message of await read(nodes[0], heard.at(-1)?.place ?? 0)) heard.push(message);
      while (!isOver || heard.length < ids.length);
    })();
    await Promise.all(ids.map((id, n) => say(nodes[n % 2]!, id)));
    isOver = true;
    await reading;
    expect(heard.map(({ place }) => place - heard[0]!.place)).toEqual(ids.map((_, n) => n));
    expect(heard.map(({ body }) => body).sort()).toEqual([...ids].sort());
  });

  test("gives the next place after the commit before it, however long that takes", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    await say(a, "first");
    const held = a.wire.hold(commit);
    const slow = say(a, "slow");
    await held.reached;
    const quick = say(b, "quick");
    expect((await read(b)).map(({ body }) => body)).toEqual(["first"]);
    held.release();
    await Promise.all([slow, quick]);
    expect((await read(b)).map(({ body }) => body)).toEqual(["first", "slow", "quick"]);
  });

  test("has a message once whose commit nobody heard of", async () => {
    const { nodes } = await open();
    const [a] = nodes;
    const lost = a.wire.next(commit, "lost");
    const said = say(a, "once");
    await lost;
    await said;
    expect((await read(a)).map(({ body }) => body)).toEqual(["once"]);
  });

  test("lets those go that were quiet the longest where an environment keeps too much", async () => {
    const { nodes, rows, clock } = await open({ clock: "manual" });
    const [{ world }] = nodes;
    for (const name of ["a", "b"]) {
      await world.store.publish({ env, channel: name, messages: [{ id: name, topic: null, body: "x" }] });
      clock.advance(1);
    }
    // As if they were as large as they may be together.
    await rows(`update .channels set bytes = ${channelBounds.environmentBytesMax} where name = 'b'`);
    await world.store.sweep({ max: 1, repair: false });
    const left = await rows("select name, last - floor as messages from .channels order by name");
    expect(left).toEqual([
      { name: "a", messages: "0" },
      { name: "b", messages: "1" },
    ]);
    expect(await rows("select channel from .messages")).toEqual([{ channel: "b" }]);
  });
});
