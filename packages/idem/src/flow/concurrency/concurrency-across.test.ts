// One limit over several functions, environments and processes.
import { describe, expect, test } from "vitest";
import type { Idem } from "../../sdk/client.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";

type Concurrency = NonNullable<FunctionOptions["concurrency"]>;

function worked(idem: Idem, id: string, work: HeldWork, concurrency: Concurrency) {
  idem.createFunction({ id, concurrency }, { event: `do/${id}` }, async ({ event, step }) =>
    step.run("work", () => work.do(event.data.n)),
  );
}

const event = (fn: string, n: string, data: Record<string, unknown> = {}) => ({
  name: `do/${fn}`,
  data: { n, ...data },
});

describe.each(stores)("a limit on %s", (store) => {
  test("of scope env is shared by all functions of the environment with an equal key", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    const shared = { limit: 2, scope: "env", key: '"mail"' } as const;
    worked(idem, "x", work, shared);
    worked(idem, "y", work, shared);
    worked(idem, "z", work, { ...shared, key: '"sms"' });
    await idem.start();
    await idem.send([event("x", "x1"), event("y", "y1"), event("x", "x2"), event("y", "y2"), event("z", "z1")]);
    await clock.tick(1);
    expect(work.inside).toEqual(["x1", "y1", "z1"]);
    work.letGo("x1");
    await clock.tick(1);
    work.letGo("y1");
    await clock.tick(1);
    expect(work.inside.sort()).toEqual(["x2", "y2", "z1"]);
    expect(work.most).toBe(3);
  });

  test("of scope env counts for each function by its own limit", async () => {
    const work = new HeldWork();
    const { idem, clock } = testIdem({ store });
    worked(idem, "wide", work, { limit: 3, scope: "env", key: '"db"' });
    worked(idem, "narrow", work, { limit: 1, scope: "env", key: '"db"' });
    await idem.start();
    await idem.send([event("wide", "w1"), event("narrow", "n1"), event("wide", "w2"), event("wide", "w3")]);
    await clock.tick(1);
    expect(work.inside).toEqual(["w1", "w2", "w3"]);
    for (const each of ["w1", "w2"]) {
      work.letGo(each);
      await clock.tick(1);
      expect(work.entered).not.toContain("n1");
    }
    work.letGo("w3");
    await clock.tick(1);
    expect(work.inside).toEqual(["n1"]);
  });

  test("of scope account is shared by all environments, one of scope env is not", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const [staging, production] = ["staging", "production"].map((env) => {
      const { idem } = process({ env });
      worked(idem, "all", work, { limit: 1, scope: "account", key: '"gpu"' });
      worked(idem, "own", work, { limit: 1, scope: "env", key: '"cpu"' });
      return idem;
    });
    await staging!.start();
    await production!.start();
    await staging!.send([event("all", "s-all"), event("own", "s-own")]);
    await production!.send([event("all", "p-all"), event("own", "p-own")]);
    await clock.tick("3s");
    expect(work.inside).toEqual(["s-all", "s-own", "p-own"]);
    work.letGo("s-all");
    // Another process hears of a freed slot at its next poll.
    await clock.tick("1s");
    expect(work.inside).toEqual(["s-own", "p-own", "p-all"]);
  });

  test("holds for all processes together", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const nodes = [process().idem, process().idem, process().idem];
    for (const idem of nodes) {
      worked(idem, "fn", work, 2);
      await idem.start();
    }
    await Promise.all(nodes.map((idem, i) => idem.send([event("fn", `${i}a`), event("fn", `${i}b`)])));
    for (let done = 0; done < 6; done++) {
      await clock.tick("1s");
      expect(work.inside).toHaveLength(Math.min(2, 6 - done));
      work.letGo(work.inside[0]!);
    }
    await clock.tick("1s");
    expect(work.most).toBe(2);
    expect(new Set(work.entered).size).toBe(6);
  });

  test("is free again within the lease time when the process that used it is lost", async () => {
    const lost = new HeldWork();
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const [first, second] = [process(), process()];
    worked(first.idem, "fn", lost, 1);
    await first.idem.start();
    const runId = (await first.idem.send(event("fn", "1"))).decisions[0]!.runId!;
    await clock.tick(1);
    expect(lost.inside).toEqual(["1"]);
    first.lose();
    worked(second.idem, "fn", work, 1);
    await second.idem.start();
    const sent = await second.idem.send([event("fn", "2"), event("fn", "3")]);
    await clock.tick("10s");
    expect(work.inside).toEqual([]);
    await clock.tick("20s");
    for (let i = 0; i < 3; i++) {
      expect(work.inside).toHaveLength(1);
      work.letGo(work.inside[0]!);
      await clock.tick(1);
    }
    for (const id of [runId, ...sent.decisions.map((each) => each.runId!)]) {
      expect(await second.idem.runs.get(id)).toMatchObject({ state: "completed" });
    }
    // The lost process finishes too late: the run has ended.
    lost.letGo("1");
    await clock.tick("1s");
    expect(work.most).toBe(1);
    expect(work.entered.sort()).toEqual(["1", "2", "3"]);
  });

  test("is free again at once when its process stops and hands back", async () => {
    const [before, after] = [new HeldWork(), new HeldWork()];
    const { clock, process } = oneStore(store);
    const [first, second] = [process().idem, process().idem];
    worked(first, "fn", before, 1);
    worked(second, "fn", after, 1);
    await first.start();
    await first.send(event("fn", "1"));
    await clock.tick(1);
    await second.start();
    await second.send(event("fn", "2"));
    const stopping = first.stop({ grace: 0 });
    await clock.tick("1s");
    await stopping;
    await clock.tick("1s");
    expect(after.inside).toHaveLength(1);
    after.letGo(after.inside[0]!);
    await clock.tick("1s");
    expect(after.entered.sort()).toEqual(["1", "2"]);
    expect(after.most).toBe(1);
  });
});

describe.each(stores)("a limit that is changed by a new registration on %s", (store) => {
  /** An old process that holds as many runs as its limit lets it, and the one that comes with a new limit. */
  async function changed(from: number, to: number) {
    const work = new HeldWork();
    const world = oneStore(store);
    const [old, fresh] = [world.process().idem, world.process().idem];
    worked(old, "fn", work, from);
    await old.start();
    await old.send(["1", "2", "3", "4", "5"].map((n) => event("fn", n)));
    await world.clock.tick(1);
    worked(fresh, "fn", work, to);
    await fresh.start();
    // The old process hears of the new functions when it next sends.
    await old.send({ name: "nothing/listens" });
    await world.clock.tick("1s");
    return { ...world, work };
  }

  test("lowered: nobody is stopped, and nobody begins until there is room by the new one", async () => {
    const { work, clock } = await changed(3, 1);
    expect(work.inside).toEqual(["1", "2", "3"]);
    for (const each of ["1", "2"]) {
      work.letGo(each);
      await clock.tick("1s");
      expect(work.entered).toEqual(["1", "2", "3"]);
    }
    work.letGo("3");
    await clock.tick("1s");
    expect(work.inside).toEqual(["4"]);
  });

  test("raised: those in line come in at once", async () => {
    const { work } = await changed(1, 4);
    expect(work.inside.sort()).toEqual(["1", "2", "3", "4"]);
  });
});
