import { expect, test } from "vitest";
import {
  collect,
  end,
  env,
  eventWait,
  fn,
  forever,
  laneOf,
  newEvent,
  newStep,
  newTick,
  signalWait,
  startFlow,
  startPair,
  value,
} from "../../contract/world.ts";
import { upTo, useServer } from "./world.suite.ts";

const { open } = useServer();
test("signal", async () => {
  const c = await open();
  const [a, b] = c.nodes;
  const answers: any[] = [];
  for (const n of upTo(20)) {
    await a.world.startLeased(`a${n}`);
    await b.world.startLeased(`b${n}`);
    answers.push(
      ...(await Promise.allSettled([
        a.world.advance(`a${n}`, { waits: [signalWait("s", `sig${n}`)], next: forever }),
        b.world.advance(`b${n}`, { waits: [signalWait("s", `sig${n}`)], next: forever }),
      ])),
    );
  }
  console.log(
    "signal",
    c.nodes.map((n) => n.wire.errors),
    answers
      .filter((x) => x.status === "rejected")
      .map((x) => String(x.reason))
      .slice(0, 3),
    answers.filter((x) => x.status === "rejected").length,
  );
});
test("same step", async () => {
  const c = await open();
  const [a] = c.nodes;
  await a.world.startLeased("r");
  const got = await Promise.all(
    ["one", "two"].map((v) => a.world.advance("r", { steps: [newStep("s", { outcome: value(v) })] })),
  );
  console.log(
    "same step",
    got.map((g) => g.outcomes),
    await a.world.outcome("r", "s"),
  );
});
test("stamps", async () => {
  const c = await open({ clock: "manual" });
  const [a, b] = c.nodes;
  for (const n of upTo(5)) await a.world.start(`x${n}`);
  await a.world.startWaiting("r", [eventWait("w")]);
  await b.world.ingest([newEvent("shipped", { name: "order/shipped" })]);
  console.log("stamps", await b.world.store.reads.waitCandidates(env, "shipped", []));
});
test("stamps, server clock", async () => {
  const c = await open();
  const [a, b] = c.nodes;
  let lost = 0;
  for (const n of upTo(100)) {
    await a.world.startWaiting(`r${n}`, [eventWait("w", { eventName: `n${n}` })]);
    await b.world.ingest([newEvent(`shipped${n}`, { name: `n${n}` })]);
    if ((await b.world.store.reads.waitCandidates(env, `shipped${n}`, [])).length !== 1) lost++;
  }
  console.log("stamps, server clock: lost", lost);
});
test("cancelOn in the same call", async () => {
  const c = await open();
  const [a] = c.nodes;
  await a.world.ingest(
    [newEvent("e1"), newEvent("e2", { name: "stop" })],
    [
      startPair("r", {
        flow: startFlow({ cancelOn: [{ eventName: "stop", path: "", value: "", rest: null, lastsMs: null }] }),
      }),
    ],
  );
  console.log(
    "cancelOn",
    await a.world.store.reads.cancelCandidates(env, "e2", []),
    await c.rows("select id from .jobs"),
  );
});
test("two crons", async () => {
  const c = await open({ clock: "manual" });
  const [a, b] = c.nodes;
  await a.world.register({ [fn]: ["c1", "c2"] });
  c.clock.advance(60_000);
  let both = 0;
  for (const n of upTo(20)) {
    const at = c.clock.wallMs();
    const t = (cron: string) => ({
      env,
      registration: null,
      leaseTo: null,
      ticks: [{ ...newTick(cron, at), speaksFor: "some" }],
    });
    const got: any = await Promise.all([a.world.store.tick(t("c1")), b.world.store.tick(t("c2"))]);
    if (got[0].fired.length + got[1].fired.length !== 1) both++;
    c.clock.advance(60_000);
  }
  console.log("two crons both fired", both);
});
test("singleton hold", async () => {
  const c = await open();
  const [a, b] = c.nodes;
  const flow = (n: number) => startFlow({ singleton: { key: "s" + n, mode: "cancel", result: "{}" } });
  for (const n of upTo(30)) {
    await a.world.start(`r${n}`, { leaseTo: "w1", key: `"k${n}"`, hold: true, flow: flow(n) });
    await Promise.all([
      a.world.tryAdvance(`r${n}`, { next: end("completed") }),
      b.world.start(`q${n}`, { key: `"m${n}"`, hold: true, flow: flow(n) }),
    ]);
  }
  console.log(
    "singleton hold",
    c.nodes.map((n) => n.wire.errors),
    await c.countDeadlocks(),
  );
});
test("handBack against resume", async () => {
  const c = await open();
  const [a, b] = c.nodes;
  for (const r of upTo(15)) {
    const ids = upTo(20).map((n) => `r${r}-${String(19 - n).padStart(2, "0")}`);
    for (const id of ids) await a.world.start(id, { leaseTo: "w" + r });
    await Promise.all(
      ids.map((id) => a.world.tryAdvance(id, { worker: "w" + r, waits: [eventWait("w", { eventName: "n" + r })] })),
    );
    await b.world.ingest([newEvent("e" + r, { name: "n" + r })], [], { leaseTo: "w9" });
    await Promise.all([
      b.world.store.resume({
        env,
        jobId: "deliver:e" + r,
        fence: 1,
        waits: ids.map((runId) => ({ runId, stepId: "w" })),
        outcome: value(1),
      }),
      a.world.store.handBack("w" + r),
    ]);
  }
  console.log(
    "handBack",
    c.nodes.map((n) => n.wire.errors),
    await c.countDeadlocks(),
  );
});
test("big calls", async () => {
  const c = await open();
  const keys = upTo(110).map((n) => `"k${n}"`);
  for (const r of upTo(5))
    await Promise.all(
      [0, 1].map((side) => {
        const ks = side ? [...keys].reverse() : keys;
        return c.nodes[side]!.world.ingest(
          ks.map((k) => newEvent(`e${r}${side}${k}`)),
          ks.map((k, i) => startPair(`r${r}${side}${k}`, { event: i, key: r + k })),
        );
      }),
    );
  console.log(
    "big",
    c.nodes.map((n) => n.wire.errors),
    await c.countDeadlocks(),
  );
});
