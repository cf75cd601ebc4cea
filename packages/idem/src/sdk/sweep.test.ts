import { describe, expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { cloudflareCron, lambdaSchedule, netlifySchedule, vercelCron } from "../serverless.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

test("a run that is cancelled while its lease is on its way to a sweep is not entered by it", async () => {
  const store = new MemoryStore(new ManualClock());
  const lease = store.lease.bind(store);
  const [leased, answer] = [held(), held()];
  store.lease = async (input) => {
    const answered = await lease(input);
    if (answered.jobs.length === 0) return answered;
    leased.release();
    await answer.promise;
    return answered;
  };
  const { idem } = testIdem({ store });
  let entered = false;
  idem.createFunction({ id: "late" }, { event: "a/b" }, () => {
    entered = true;
  });
  const { decisions } = await idem.send({ name: "a/b", data: {} });
  const sweeping = idem.sweep();
  await leased.promise;
  expect(await idem.runs.cancel(decisions[0]!.runId!)).toEqual({ cancelled: true });
  answer.release();
  await sweeping;
  expect(entered).toBe(false);
});

describe.each(stores)("a sweep on %s", (store) => {
  function world() {
    const { idem, clock, client } = testIdem({ store });
    const did: string[] = [];
    const define = (of: typeof idem) =>
      of.createFunction({ id: "greet", idempotency: "event.data.to" }, { event: "a/b" }, async ({ event, step }) => {
        await step.run("first", () => void did.push(`first ${event.data.to}`));
        await step.sleep("nap", "1h");
        await step.run("second", () => void did.push(`second ${event.data.to}`));
      });
    define(idem);
    const due = async () => (await idem.sweep()).nextDueAt;
    return { idem, clock, client, define, did, due };
  }

  test("does what is due, holds nothing afterwards, and says when something is due next", async () => {
    const { idem, clock, did } = world();
    expect(await idem.sweep()).toEqual({ isCut: false, nextDueAt: null, entered: 0 });
    await idem.send({ name: "a/b", data: { to: "ada" } });
    expect(did).toEqual([]);
    expect(await idem.sweep()).toEqual({ isCut: false, nextDueAt: clock.now() + 3_600_000, entered: 1 });
    expect(did).toEqual(["first ada"]);
    expect((await idem.sweep()).entered).toBe(0);
    await clock.advance("1h");
    expect(await idem.sweep()).toEqual({ isCut: false, nextDueAt: null, entered: 1 });
    expect(did).toEqual(["first ada", "second ada"]);
  });

  test("ticks come with it, missed ones by the rule of their schedule, and the next instant is told", async () => {
    const { idem, clock } = testIdem({ store });
    const ticks: string[] = [];
    idem.createFunction(
      { id: "hourly" },
      { cron: "0 * * * *" },
      ({ event }) => void ticks.push(String(event.data.cron)),
    );
    const begun = clock.now();
    expect((await idem.sweep()).nextDueAt).toBe(begun + 3_600_000);
    await clock.advance("150m");
    expect((await idem.sweep()).nextDueAt).toBe(begun + 3 * 3_600_000);
    expect(ticks).toHaveLength(1);
  });

  test("several at once in one process are one", async () => {
    const { idem, did } = world();
    await idem.send({ name: "a/b", data: { to: "ada" } });
    const swept = await Promise.all([idem.sweep(), idem.sweep(), idem.sweep()]);
    expect(new Set(swept).size).toBe(1);
    expect(did).toEqual(["first ada"]);
  });

  test("a step that takes longer than the budget is left to the next one, and the run is due at once", async () => {
    const { idem, clock } = testIdem({ store });
    const end = held();
    let entered = 0;
    idem.createFunction({ id: "long" }, { event: "a/b" }, async ({ step }) =>
      step.run("wait", async () => {
        entered++;
        if (entered === 1) await end.promise;
      }),
    );
    await idem.send({ name: "a/b", data: {} });
    const sweeping = idem.sweep({ budget: "4s" });
    for (let i = 0; i < 5; i++) await clock.tick("1s");
    expect(await sweeping).toMatchObject({ isCut: true, entered: 1 });
    end.release();
    expect(await idem.sweep()).toMatchObject({ isCut: false, nextDueAt: null });
    expect(entered).toBe(2);
  });

  test("what is sent with waitUntil is begun by a sweep that the host waits for", async () => {
    const { idem, did } = world();
    const work: Promise<unknown>[] = [];
    for (const to of ["ada", "bob", "ada"]) {
      await idem.send({ name: "a/b", data: { to } }, { waitUntil: (each) => work.push(each) });
    }
    await Promise.all(work);
    expect(did.toSorted()).toEqual(["first ada", "first bob"]);
  });
});

test("a started client has nothing to sweep, and a budget below a second is refused", async () => {
  const { idem } = testIdem();
  await expect(idem.sweep({ budget: "10ms" })).rejects.toThrow("OPTION_INVALID");
  await expect(idem.sweep({ budgets: "10s" } as never)).rejects.toThrow("budgets");
  await idem.start();
  await expect(idem.sweep()).rejects.toThrow("CLIENT_STARTED");
});

describe("what schedulers of hosts call", () => {
  const swept = { isCut: false, nextDueAt: 7, entered: 1 };
  const fake = () => {
    const asked: unknown[] = [];
    return {
      asked,
      sweep: async (options?: unknown) => {
        asked.push(options);
        return swept;
      },
    };
  };

  test("Vercel's cron is answered only with its secret", async () => {
    const idem = fake();
    const route = vercelCron(idem, { secret: "s3cret", budget: "5s" });
    const ask = (authorization?: string) =>
      route(new Request("http://host/api/sweep", authorization === undefined ? {} : { headers: { authorization } }));
    for (const refused of [undefined, "Bearer", "Bearer other", "s3cret"])
      expect((await ask(refused)).status).toBe(401);
    expect(idem.asked).toEqual([]);
    expect(await (await ask("Bearer s3cret")).json()).toEqual(swept);
    expect(idem.asked).toEqual([{ budget: "5s" }]);
    await expect(vercelCron(idem, { secret: "" })(new Request("http://host/"))).rejects.toThrow("CRON_SECRET");
  });

  test("Netlify, Lambda and Cloudflare call it as they call their handlers", async () => {
    const idem = fake();
    expect(await (await netlifySchedule(idem)()).json()).toEqual(swept);
    expect(await lambdaSchedule(idem)({}, { getRemainingTimeInMillis: () => 30_000 })).toEqual(swept);
    const work: Promise<unknown>[] = [];
    cloudflareCron(idem, { budget: "9s" })({}, {}, { waitUntil: (each) => void work.push(each) });
    expect(await Promise.all(work)).toEqual([swept]);
    expect(idem.asked).toEqual([undefined, { budget: 29_000 }, { budget: "9s" }]);
  });
});
