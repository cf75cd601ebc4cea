// A rule's effect, before it is made.
import { describe, expect, test } from "vitest";
import { effectScope, outcomeText } from "../../../model/effect.ts";
import { dayMs } from "../../../model/window.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { previewRule } from "./preview-rule.ts";

describe.each(stores)("on %s", (store) => {
  test("a preview counts each run that came too soon after another for the same thing, and makes nothing", async () => {
    const world = await apiWorld({ store });
    await world.start({ draft: { on: "placement/event", run: () => null } });
    for (let placementId = 1; placementId <= 4; placementId++) {
      await world.send({ name: "placement/event", data: { placementId } });
      await world.advance(5_000);
      if (placementId > 1) await world.send({ name: "placement/event", data: { placementId } });
    }
    await world.idle();
    const count = async (query: Record<string, string>) =>
      (await world.ask(previewRule, { query: { of: "event.data.placementId", ...query } })).body;
    expect(await count({})).toEqual({ count: 3, eventCount: 7, days: 7, isAll: true, next: null });
    expect(await count({ what: "events" })).toMatchObject({ count: 3 });
    expect(await count({ within: "2s" })).toMatchObject({ count: 0 });
    expect(await count({ more: "2" })).toMatchObject({ count: 0 });
    expect(await count({ function: "shop-other" })).toMatchObject({ count: 0 });
    expect(await count({ of: "event.data.clientId" })).toMatchObject({ count: 0 });
    expect(await world.store.reads.alerts("default", { limit: 1 })).toEqual([]);
  });

  test("a preview of a rule about effects counts those of one entity at one destination, of the last seven days", async () => {
    const world = await apiWorld({ store });
    let made = 0;
    const send = async (destination: string, entity: string) => {
      const [scope, key] = [effectScope(destination, entity), `k${++made}`];
      const claim = { env: "default", scope, key, token: key, fingerprint: null, leaseMs: 1_000, windowMs: 30 * dayMs };
      const answer = await world.store.claim(claim);
      if (answer.kind !== "fresh") throw new Error(answer.kind);
      const outcome = { runId: `run-${key}`, step: "s", receipt: null, value: null, at: 1, tries: 1 };
      await world.store.settle("default", scope, key, answer.fence, outcomeText({ ...outcome, by: "answer" }));
    };
    await send("stripe", "placement-1");
    await send("stripe", "placement-1");
    await world.advance(8 * dayMs);
    for (const [destination, entity] of [
      ["stripe", "placement-7"],
      ["mail", "placement-7"],
      ["stripe", "placement-8"],
    ] as const)
      await send(destination, entity);
    await world.advance(800);
    await send("stripe", "placement-7");
    const count = async (query: Record<string, string>) =>
      (await world.ask(previewRule, { query: { what: "effects", ...query } })).body;
    expect(await count({})).toEqual({ count: 1, eventCount: 6, days: 7, isAll: true, next: null });
    expect(await count({ more: "2" })).toMatchObject({ count: 0 });
    expect((await count({ of: "event.data.placementId" })).error).toContain('effects are counted by "entity"');
  });

  test("what cannot be watched is refused in the words of the rule", async () => {
    const world = await apiWorld({ store });
    const refusal = async (query: Record<string, string>) => (await world.ask(previewRule, { query })).body.error;
    expect(await refusal({ of: "best-guess" })).toContain('say "key", or a field');
    expect(await refusal({ of: "key", within: "2d" })).toContain("from 1s to 1h");
  });
});
