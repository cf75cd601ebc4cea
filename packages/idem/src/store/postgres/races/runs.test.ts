// A run that two nodes want to move: one of them has it, and what the other one did is either in its memo or was refused.
import { describe, expect, test } from "vitest";
import type { AdvanceAnswer } from "../../advance.ts";
import {
  end,
  env,
  eventWait,
  fn,
  forever,
  newAttempt,
  newEvent,
  newStep,
  newTick,
  type Patch,
  plainRerun,
  runJob,
  runWait,
  startFlow,
  startPair,
  timeWait,
  value,
  type World,
} from "../../contract/world.ts";
import { type Cluster, commit, type Node, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const termMs = 1_000;
const rescueAll = ({ world }: Node) => world.store.sweep({ max: 1_000, repair: false });

/** What of an ended run must not exist. */
const leftOfEnded = ({ rows }: Cluster) =>
  rows(`
    select r.id, 'job' as what from .runs r join .jobs j on j.env = r.env and j.id = r.id where r.ended_state is not null
    union all
    select r.id, 'wait' from .runs r join .waits w on w.env = r.env and w.run_id = r.id where r.ended_state is not null
    union all
    select r.id, 'rule' from .runs r join .cancels c on c.env = r.env and c.run_id = r.id where r.ended_state is not null
    union all
    select r.id, 'nothing to go on with' from .runs r
     where r.ended_state is null and not exists (select 1 from .jobs j where j.env = r.env and j.id = r.id)`);

describe("a save by the old worker while the run is taken over", () => {
  // Alone: with a failed attempt beside it, a save is a transaction of several statements.
  const saves: Readonly<Record<string, Patch>> = {
    "with others, in one statement": { steps: [newStep("s")] },
    "alone, in a transaction": { steps: [newStep("s")], attempts: [newAttempt("t", 1)] },
  };
  for (const [how, patch] of Object.entries(saves)) {
    test(`${how}: before the takeover it is in the memo, after it it is refused`, async () => {
      const cluster = await open({ clock: "manual" });
      const { nodes, clock, begin, untilWaiting } = cluster;
      const [a, b] = nodes;
      for (const isSavedFirst of [true, false]) {
        const runId = `saved ${isSavedFirst ? "first" : "second"}`;
        await a.world.store.heartbeat(`w ${runId}`, termMs);
        await a.world.start(runId, { leaseTo: `w ${runId}` });
        clock.advance(termMs + 1);
        // Both stand in line for the run's job.
        const outsider = await begin();
        await outsider.query("select 1 from .jobs where id = $1 for update", runId);
        const save = () => a.world.tryAdvance(runId, { worker: `w ${runId}`, ...patch });
        const acts = isSavedFirst ? [save, () => rescueAll(b)] : [() => rescueAll(b), save];
        const answers = acts.map((act) => act());
        await untilWaiting(1);
        await outsider.end();
        const [first, second] = await Promise.all(answers);
        const saved = (isSavedFirst ? first : second) as AdvanceAnswer;
        const { jobs } = await b.world.lease("w9");
        const memo = runJob(jobs[0]).memo.steps.map(({ stepId }) => stepId);
        expect(memo).toEqual(saved.kind === "advanced" ? ["s"] : []);
        expect(["advanced", "fenced"]).toContain(saved.kind);
        expect((await a.world.memo(runId)).steps).toHaveLength(memo.length);
      }
    });
  }

  test("that is recorded just now, in one statement with others, keeps the takeover waiting, and is in the memo", async () => {
    const { nodes, clock, begin, untilWaiting } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.store.heartbeat("w1", termMs);
    await a.world.startLeased("r");
    clock.advance(termMs + 1);
    // Between the look at the fence and the commit the statement waits for somebody who has the step's place, and lets go of it.
    const outsider = await begin();
    await outsider.query(
      `insert into .steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp)
       values ($1, 'r', 's', '', 0, 'run', 'value', '1', 1, 1, 1, 1)`,
      env,
    );
    const saving = a.world.tryAdvance("r", { steps: [newStep("s")] });
    await untilWaiting(1);
    const taking = rescueAll(b).then(() => b.world.lease("w2"));
    await untilWaiting(2, taking);
    await outsider.end("rollback");
    expect(await saving).toMatchObject({ kind: "advanced" });
    expect(runJob((await taking).jobs[0]).memo.steps.map(({ stepId }) => stepId)).toEqual(["s"]);
  });

  test("that is not yet committed keeps the takeover waiting, and is in the memo", async () => {
    const { nodes, clock, untilWaiting } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.store.heartbeat("w1", termMs);
    await a.world.startLeased("r");
    clock.advance(termMs + 1);
    const held = a.wire.hold(commit);
    const saving = a.world.tryAdvance("r", { steps: [newStep("s")], attempts: [newAttempt("t", 1)] });
    await held.reached;
    const rescuing = rescueAll(b);
    await untilWaiting(1);
    held.release();
    expect(await saving).toMatchObject({ kind: "advanced" });
    expect(await rescuing).toMatchObject({ rescued: 1 });
    const job = runJob((await b.world.lease("w2")).jobs[0]);
    expect(job.memo.steps.map(({ stepId }) => stepId)).toEqual(["s"]);
    expect(await a.world.tryAdvance("r", { steps: [newStep("late")] })).toEqual({ kind: "fenced" });
  });

  test("whose session the server ended before its commit is asked again, and refused once the run is another's", async () => {
    const { nodes, clock, rows, untilWaiting } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.store.heartbeat("w1", termMs);
    await a.world.startLeased("r");
    clock.advance(termMs + 1);
    const held = a.wire.hold(commit);
    const saving = a.world.tryAdvance("r", { steps: [newStep("s")], attempts: [newAttempt("t", 1)] });
    await held.reached;
    const rescuing = rescueAll(b);
    await untilWaiting(1);
    const ended = await rows(
      "select pg_terminate_backend(pid) as is_ended from pg_stat_activity where datname = current_database() and application_name = $1 and state like 'idle in%'",
      a.applicationName,
    );
    expect(ended).toEqual([{ is_ended: true }]);
    expect(await rescuing).toMatchObject({ rescued: 1 });
    held.release();
    expect(await saving).toEqual({ kind: "fenced" });
    expect(runJob((await b.world.lease("w2")).jobs[0]).memo.steps).toEqual([]);
  });
});

describe("an end whose answer was lost", () => {
  const ends: Readonly<Record<string, { readonly patch: Patch; readonly statement: RegExp }>> = {
    "with others, in one statement": {
      patch: { next: end("completed") },
      statement: /delete from .*jobs j using open/s,
    },
    "alone, in a transaction": { patch: { steps: [newStep("s")], next: end("completed") }, statement: commit },
  };
  for (const [how, { patch, statement }] of Object.entries(ends)) {
    for (const fate of ["lost", "cut"] as const) {
      test(`${how}, ${fate === "lost" ? "after" : "before"} it was done: it is this fence's end, once`, async () => {
        const { nodes, rows } = await open();
        const [a, b] = nodes;
        await a.world.startLeased("r");
        const met = a.wire.next(statement, fate);
        const ending = a.world.tryAdvance("r", patch);
        await met;
        expect(await ending).toMatchObject({ kind: "advanced", leased: false });
        expect(await b.world.tryAdvance("r", { fence: 2, next: end("failed") })).toMatchObject({ kind: "ended" });
        expect(await rows("select ended_state, ended_fence::int from .runs")).toEqual([
          { ended_state: "completed", ended_fence: 1 },
        ]);
        expect(await rows("select 1 from .jobs")).toEqual([]);
      });
    }
  }

  test("with what it sent: the events are there once, and so is what they started", async () => {
    const { nodes, rows } = await open();
    const [a] = nodes;
    await a.world.startLeased("r");
    const met = a.wire.next(commit, "lost");
    const ending = a.world.tryAdvance("r", {
      next: end("completed"),
      ingest: { registration: null, events: [newEvent("sent")], pairs: [startPair("child", { key: '"k"' })] },
    });
    await met;
    expect(await ending).toMatchObject({ kind: "advanced" });
    expect(await rows("select id from .runs order by id")).toEqual([{ id: "child" }, { id: "r" }]);
    expect(await rows("select asked::int from .claims")).toEqual([{ asked: 1 }]);
  });
});

describe("two outcomes of one step", () => {
  test("brought in one breath: the first counts, and both are told it", async () => {
    const { nodes } = await open();
    const [a] = nodes;
    await a.world.startLeased("r");
    const answers = await Promise.all(
      ["one", "two"].map((json) => a.world.advance("r", { steps: [newStep("s", { outcome: value(json) })] })),
    );
    const counted = await a.world.outcome("r", "s");
    expect(answers.map(({ outcomes }) => outcomes)).toEqual([[counted], [counted]]);
  });

  test("brought by two nodes at once: one counts, and both are told it", async () => {
    const { nodes } = await open();
    await nodes[0].world.startLeased("r");
    for (const n of upTo(10)) {
      const answers = await Promise.all(
        nodes.map(({ world }, side) => world.advance("r", { steps: [newStep(`s${n}`, { outcome: value(side) })] })),
      );
      const counted = await nodes[0].world.outcome("r", `s${n}`);
      expect(answers.map(({ outcomes }) => outcomes)).toEqual([[counted], [counted]]);
    }
  });
});

describe("a cancel", () => {
  const cancel = ({ world }: Node, runId: string) =>
    world.store.cancel({ env, runId, result: '"stopped"', releaseKey: true, ingest: null });
  const flow = startFlow({ cancelOn: [{ eventName: "stop", path: "", value: "", rest: null, lastsMs: null }] });
  const against: Readonly<Record<string, (world: World, runId: string) => Promise<unknown>>> = {
    "a save": (world, runId) => world.tryAdvance(runId, { steps: [newStep("s")] }),
    "a plan that waits": (world, runId) =>
      world.tryAdvance(runId, { waits: [eventWait("w"), timeWait("t", 1)], next: forever }),
    "a plan that invokes": (world, runId) =>
      world.tryAdvance(runId, {
        ingest: { registration: null, events: [newEvent(`by ${runId}`)], pairs: [startPair(`child of ${runId}`)] },
        waits: [runWait("w")],
        next: forever,
      }),
    "an end": (world, runId) => world.tryAdvance(runId, { next: end("completed") }),
    "an end in a transaction": (world, runId) =>
      world.tryAdvance(runId, { steps: [newStep("s")], next: end("completed", '"done"', true) }),
    "another cancel": (world, runId) =>
      world.store.cancel({ env, runId, result: '"stopped"', releaseKey: true, ingest: null }),
  };
  for (const [what, act] of Object.entries(against)) {
    test(`against ${what}: one end state, and nothing of the run is left`, async () => {
      const cluster = await open();
      const [a, b] = cluster.nodes;
      for (const n of upTo(6)) {
        const runId = `r${n}`;
        await a.world.startLeased(runId, { key: `"k${n}"`, hold: true, flow });
        const acting = n % 2 === 0 ? act(a.world, runId) : null;
        const cancelling = cancel(b, runId);
        await (acting ?? act(a.world, runId));
        const answer = await cancelling;
        const run = await a.world.run(runId);
        if (answer.kind === "cancelled") expect(run).toMatchObject({ state: "cancelled", result: '"stopped"' });
        else expect(answer).toEqual({ kind: "already-ended", state: run.state });
      }
      expect(await leftOfEnded(cluster)).toEqual([]);
      expect(await cluster.rows("select 1 from .claims where held = 1")).toEqual([]);
    });
  }
  test("against the event that resumes the run and against its time running out: nothing of it is left", async () => {
    const cluster = await open({ clock: "manual", nodes: 3 });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    const c = nodes[2]!;
    for (const n of upTo(8)) {
      const runId = `r${n}`;
      await a.world.startWaiting(runId, [eventWait("w", { timeoutAt: clock.wallMs() + 10 })], { flow });
      clock.advance(5);
      await b.world.ingest([newEvent(`e${n}`, { name: "order/shipped" })], [], { leaseTo: "w2" });
      clock.advance(5);
      const resume = { env, jobId: `deliver:e${n}`, fence: 1, waits: [{ runId, stepId: "w" }], outcome: value(1) };
      await Promise.all([cancel(c, runId), b.world.store.resume(resume), a.world.lease("w1")]);
      expect(await a.world.run(runId)).toMatchObject({ state: "cancelled" });
    }
    expect(await leftOfEnded(cluster)).toEqual([]);
  });
});

describe("every write", () => {
  // Each comes to two nodes, twice to each, at once; once is enough to compare with.
  type Write = (world: World) => Promise<unknown>;
  const writes: Readonly<Record<string, { readonly prepare?: Write; readonly write: Write }>> = {
    ingest: { write: (world) => world.start("r", { key: '"k"', leaseTo: "w1" }, { callerId: "id" }) },
    "ingest of a duplicate": {
      prepare: (world) => world.start("r0", { key: '"k"' }, { callerId: "id" }),
      write: (world) => world.start("r", { key: '"k"' }, { callerId: "id" }),
    },
    save: {
      prepare: (world) => world.startLeased("r"),
      write: (world) => world.tryAdvance("r", { steps: [newStep("s")] }),
    },
    "save with waits and events": {
      prepare: (world) => world.startLeased("r"),
      write: (world) =>
        world.tryAdvance("r", {
          steps: [newStep("s")],
          attempts: [newAttempt("t", 1)],
          waits: [eventWait("w")],
          ingest: {
            registration: null,
            events: [newEvent("sent", { callerId: "id" })],
            pairs: [startPair("child", { key: '"k"' })],
          },
        }),
    },
    end: {
      prepare: (world) => world.startLeased("r", { key: '"k"', hold: true }),
      write: (world) => world.tryAdvance("r", { next: end("completed") }),
    },
    "plain end": {
      prepare: (world) => world.startLeased("r"),
      write: (world) => world.tryAdvance("r", { next: end("completed") }),
    },
    rerun: {
      prepare: (world) => world.start("r", { key: '"k"' }),
      write: (world) => world.store.rerun({ ...plainRerun, env, runId: "r", newRunId: "r2", rank: 0, leaseTo: "w1" }),
    },
    claim: {
      write: (world) =>
        world.store.claim({
          env,
          scope: "http",
          key: "k",
          token: "t",
          fingerprint: "f",
          leaseMs: 1_000,
          windowMs: 1_000,
        }),
    },
    register: { write: (world) => world.register({ [fn]: ["0 9 * * *"] }) },
    pause: {
      prepare: (world) => world.register({ [fn]: [] }),
      write: (world) => world.store.pause({ env, fn, paused: true, reason: "" }),
    },
    tick: {
      prepare: (world) => world.register({ [fn]: ["0 9 * * *"] }),
      write: async (world) => {
        const tick = newTick("0 9 * * *", world.clock.wallMs(), {});
        await world.store.tick({ env, registration: null, ticks: [tick], leaseTo: null });
      },
    },
  };
  /** What of an answer only the one has who made the change: that there was one, and that somebody should look. */
  const same = (answer: unknown) =>
    JSON.parse(JSON.stringify(answer ?? null, (name, part) => (["changed", "queued"].includes(name) ? null : part)));
  for (const [name, { prepare, write }] of Object.entries(writes)) {
    test(`${name}: four times at once on two nodes is once`, async () => {
      const ask = async (times: number) => {
        const { nodes, clock } = await open({ clock: "manual", nodes: Math.min(times, 2) });
        await prepare?.(nodes[0].world);
        clock.advance(60_000);
        const answers = await Promise.all(upTo(times).map((n) => write(nodes[n % 2]!.world)));
        return { answers, rows: await nodes[0].world.rows() };
      };
      const once = await ask(1);
      const often = await ask(4);
      expect(often.rows).toEqual(once.rows);
      for (const answer of often.answers) expect(same(answer)).toEqual(same(once.answers[0]));
    });
  }
});
