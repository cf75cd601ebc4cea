import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { stores, testIdem } from "../../testing/flow-stores.suite.ts";
import type { RateLimitOptions } from "./config.ts";

describe.each(stores)("rateLimit on %s", (store) => {
  async function begin(rateLimit: RateLimitOptions, fn: Partial<FunctionOptions> = {}) {
    const world = testIdem({ store });
    world.idem.createFunction({ id: "fn", rateLimit, ...fn }, { event: "a/b" }, async () => null);
    await world.idem.start();
    const decide = async (data: Record<string, unknown> = {}, id?: string) =>
      (await world.idem.send({ name: "a/b", data, ...(id === undefined ? {} : { id }) })).decisions[0]!;
    return { ...world, decide };
  }

  test("starts no more runs than the limit in any period, and the decision names the limit and when it frees", async () => {
    const { idem, clock, decide } = await begin({ limit: 2, period: "1m" });
    expect(await decide()).toMatchObject({ kind: "started", reason: null });
    await clock.advance("20s");
    expect(await decide()).toMatchObject({ kind: "started" });
    const refused = await decide();
    expect(refused).toMatchObject({ kind: "rate-limited", runId: null });
    expect(refused.reason).toContain("2");
    expect(refused.reason).toContain(new Date(clock.now() + 40_000).toISOString());
    expect((await idem.events.get(refused.eventId))!.decisions).toMatchObject([{ kind: "rate-limited" }]);
    await clock.advance(39_999);
    expect(await decide()).toMatchObject({ kind: "rate-limited" });
    await clock.advance(1);
    expect(await decide()).toMatchObject({ kind: "started" });
    expect(await decide()).toMatchObject({ kind: "rate-limited" });
    await clock.advance("20s");
    expect(await decide()).toMatchObject({ kind: "started" });
    expect(await idem.runs.list()).toHaveLength(4);
  });

  test("events of one call are counted one by one", async () => {
    const { idem } = await begin({ limit: 2, period: "1m" });
    const { decisions } = await idem.send([{ name: "a/b" }, { name: "a/b" }, { name: "a/b" }]);
    expect(decisions.map(({ kind }) => kind)).toEqual(["started", "started", "rate-limited"]);
  });

  test("a key has a limit for each of its values", async () => {
    const { decide } = await begin({ limit: 1, period: "1m", key: "event.data.of" });
    expect(await decide({ of: "a" })).toMatchObject({ kind: "started" });
    expect(await decide({ of: "b" })).toMatchObject({ kind: "started" });
    expect(await decide({ of: "a" })).toMatchObject({ kind: "rate-limited" });
  });

  test("a key that is false limits nothing; one that is missing neither, and the decision says so", async () => {
    const { decide } = await begin({ limit: 1, period: "1m", key: "event.data.vip ? false : event.data.of" });
    for (let i = 0; i < 3; i++) expect(await decide({ vip: true })).toMatchObject({ kind: "started", reason: null });
    for (let i = 0; i < 2; i++) {
      const { kind, reason } = await decide({ vip: false });
      expect(kind).toBe("started");
      expect(reason).toMatch(/rateLimit\.key.*did not apply/);
    }
  });

  test("an event that is refused takes nothing: its function key stays free, and the limit counts it not", async () => {
    const { clock, decide } = await begin({ limit: 1, period: "1m" }, { idempotency: "event.data.key" });
    await decide({ key: "first" });
    for (let i = 0; i < 5; i++) expect(await decide({ key: "k" })).toMatchObject({ kind: "rate-limited", key: '"k"' });
    await clock.advance("1m");
    expect(await decide({ key: "k" })).toMatchObject({ kind: "started", key: '"k"' });
  });

  test("a duplicate takes no part of the limit, and is answered with the first run also when the limit is used up", async () => {
    const { decide } = await begin({ limit: 2, period: "1m" }, { idempotency: "event.data.key" });
    const first = await decide({ key: "k" }, "e1");
    expect(await decide({ key: "k" }, "e1")).toMatchObject({ kind: "duplicate-event", runId: first.runId });
    expect(await decide({ key: "k" })).toMatchObject({ kind: "duplicate-key", runId: first.runId });
    expect(await decide({ key: "other" })).toMatchObject({ kind: "started" });
    expect(await decide({ key: "k" })).toMatchObject({ kind: "duplicate-key", runId: first.runId });
  });

  test("a function that is invoked past its limit tells the invoking step why it was not started", async () => {
    const { idem, clock, decide } = await begin({ limit: 1, period: "1m" });
    idem.createFunction({ id: "parent" }, { event: "go" }, async ({ step }) =>
      step.invoke("ask", { function: "fn" }).catch((error: Error) => error.message),
    );
    await decide();
    const { runId } = (await idem.send({ name: "go" })).decisions[0]!;
    await clock.advanceToEnd();
    const { output } = (await idem.runs.get(runId!))!;
    expect(output).toContain("was not started");
    expect(output).toContain("at most 1 run");
  });
});
