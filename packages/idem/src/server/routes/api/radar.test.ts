// The radar's findings, asked and answered over the API.
import { describe, expect, test } from "vitest";
import { ArrivalFollower } from "../../../radar/follow-arrivals.ts";
import { type ApiWorld, apiWorld, stores } from "../../api/api-world.suite.ts";
import { devActor } from "../../people/actor.ts";
import { exportAlert } from "./export-alert.ts";
import { acknowledgeAlert, closeAlert, muteAlert } from "./judge-alert.ts";
import { listAlerts } from "./list-alerts.ts";
import { listRules, putRule, removeRule } from "./radar-rules.ts";
import { readAlert } from "./read-alert.ts";
import { readSuggestion, refuseSuggestion, restoreSuggestion } from "./read-suggestion.ts";

async function story(store: (typeof stores)[number], count = 3): Promise<ApiWorld> {
  const world = await apiWorld({ store });
  let drafts = 0;
  await world.start({
    draft: {
      on: "placement/event",
      run: ({ step }) => step.run("create draft", () => ({ invoice: `in_${++drafts}` })),
    },
  });
  for (let placementId = 1; placementId <= count; placementId++) {
    for (const eventType of ["INSERTED", "UPDATED"]) {
      await world.send({ name: "placement/event", data: { placementId, eventType, clientId: 7 } });
      await world.advance(800);
    }
  }
  await world.idle();
  await world.advance(3_000);
  const { engine } = world;
  const follower = new ArrivalFollower({
    store: world.store,
    env: "default",
    now: () => engine.now(),
    newId: () => engine.newId(),
    functionOf: (fn) => ({ name: fn, keyExpression: null }),
    announce: async () => {},
    warn: () => {},
    turns: engine.turns,
  });
  while ((await follower.look()) > 0);
  return world;
}

const reason = "the key is deployed on Monday";

describe.each(stores)("on %s", (store) => {
  test("an alert is listed with the line to paste, read with its pairs, and exported with both runs' outputs", async () => {
    const world = await story(store);
    const { body } = await world.ask(listAlerts);
    expect(body).toMatchObject({
      openCount: 1,
      next: null,
      alerts: [
        {
          kind: "doubled-runs",
          function: "shop-draft",
          subject: "event.data.placementId",
          line: 'idempotency: "event.data.placementId",',
          pairCount: 3,
          differs: ["data.eventType"],
        },
      ],
    });
    const alert = body.alerts[0].id;
    const first = await world.ask(readAlert, { params: { alert }, query: { limit: 2 } });
    expect(first.body.pairs.map(({ entity }: { entity: string }) => entity)).toEqual(["3", "2"]);
    const rest = await world.ask(readAlert, { params: { alert }, query: { limit: 2, before: first.body.next } });
    expect(rest.body).toMatchObject({ pairs: [{ entity: "1" }], next: null });
    const text = async (format: string) => {
      const answer = await exportAlert.handle(
        {
          params: { alert },
          query: new URLSearchParams({ format }),
          env: "default",
          headers: {},
          actor: devActor,
          signal: new AbortController().signal,
        } as never,
        world.world,
      );
      return answer.body as string;
    };
    expect(await text("md")).toContain(String.raw`{"invoice":"in\_1"} | {"invoice":"in\_2"}`);
    expect((await text("csv")).trimEnd().split("\r\n")).toHaveLength(4);
  });

  test("an alert is acknowledged, muted for a time and closed, each with a reason and in the audit", async () => {
    const world = await story(store, 1);
    const { alerts } = (await world.ask(listAlerts)).body;
    const asked = { params: { alert: alerts[0].id } };
    expect((await world.ask(acknowledgeAlert, { ...asked, body: {} })).status).toBe(400);
    expect((await world.ask(acknowledgeAlert, { ...asked, body: { reason } })).body.alert).toMatchObject({
      state: "acknowledged",
      note: reason,
    });
    const muted = await world.ask(muteAlert, { ...asked, body: { reason, for: "7d" } });
    expect(muted.body.alert.state).toBe("muted");
    expect(muted.body.alert.mutedUntil - muted.body.alert.judgedAt).toBe(7 * 86_400_000);
    expect((await world.ask(closeAlert, { ...asked, body: { reason } })).body.alert.state).toBe("closed");
    expect(await world.ask(muteAlert, { ...asked, body: { reason } })).toMatchObject({
      status: 409,
      body: { code: "ALERT_CLOSED" },
    });
    expect(await world.ask(readAlert, { params: { alert: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "ALERT_UNKNOWN" },
    });
    expect((await world.ask(listAlerts, { query: { state: "open" } })).body).toMatchObject({
      alerts: [],
      openCount: 0,
    });
  });

  test("a key is suggested with its evidence, and other fields are refused with the reason", async () => {
    const world = await story(store, 4);
    const { body } = await world.ask(readSuggestion, { params: { function: "shop-draft" } });
    expect(body).toMatchObject({
      function: "shop-draft",
      expression: "event.data.placementId",
      line: 'idempotency: "event.data.placementId",',
      runCount: 8,
      suppressedCount: 4,
      entityCount: 4,
      differs: ["data.eventType"],
      refused: [{ expression: "event.data.clientId", why: "too-wide" }],
    });
    expect(body.evidence).toEqual([
      "It would have suppressed 4 of 8 runs in 7 days.",
      "The 4 differed from their first run in eventType only; no amount differed.",
      "The field was there in all 8 runs.",
    ]);
    expect(body.presentCount).toBe(8);
    expect((await world.ask(readSuggestion, { params: { function: "nobody" } })).body.code).toBe("FUNCTION_UNKNOWN");
  });

  test("a key that somebody refused is not suggested again, the next best is, and it can be taken back", async () => {
    const world = await apiWorld({ store });
    await world.start({ draft: { on: "placement/event", run: () => null } });
    for (let id = 1; id <= 4; id++) {
      const data = { placementId: id, contractId: `c-${id}` };
      for (const eventType of ["INSERTED", "UPDATED"]) {
        await world.send({ name: "placement/event", data: { ...data, eventType } });
        await world.advance(800);
      }
    }
    await world.idle();
    const of = { params: { function: "shop-draft" } };
    const expression = "event.data.placementId";
    expect((await world.ask(readSuggestion, of)).body).toMatchObject({ expression, leftOut: [] });
    const said = { ...of, body: { expression, reason: "a placement is billed every month" } };
    const refused = await world.ask(refuseSuggestion, said);
    expect(refused.body).toMatchObject({
      expression: "event.data.contractId",
      suppressedCount: 4,
      leftOut: [{ expression, reason: "a placement is billed every month" }],
    });
    expect(await world.ask(refuseSuggestion, said)).toEqual(refused);
    expect((await world.ask(readSuggestion, of)).body).toEqual(refused.body);
    const both = { ...of, body: { expression: "event.data.contractId", reason: "the same" } };
    expect((await world.ask(refuseSuggestion, both)).body).toMatchObject({ expression: null, line: null });
    expect((await world.ask(restoreSuggestion, said)).body).toMatchObject({ expression });
    const { rows } = await world.store.reads.auditPage("default", { limit: 10 });
    expect(rows.map(({ action, subject, reason: why }) => [action, subject, why])).toEqual([
      ["change-setting", `radar-refused-key:shop-draft ${expression}`, "a placement is billed every month"],
      ["change-setting", "radar-refused-key:shop-draft event.data.contractId", "the same"],
      ["change-setting", `radar-refused-key:shop-draft ${expression}`, "a placement is billed every month"],
    ]);
    const nameless = { ...said, params: { function: "nobody" } };
    expect((await world.ask(refuseSuggestion, nameless)).body.code).toBe("FUNCTION_UNKNOWN");
  });

  test("rules are made, changed and removed; the default one is muted, never removed", async () => {
    const world = await apiWorld({ store });
    const rule = (name: string) => ({ params: { rule: name } });
    const body = { more: 2, of: "event.data.orderId", within: "30s", reason };
    expect((await world.ask(putRule, { ...rule("thrice"), body })).body.rule).toEqual({
      name: "thrice",
      more: 2,
      what: "runs",
      of: "event.data.orderId",
      withinMs: 30_000,
      function: null,
      muted: false,
    });
    expect((await world.ask(putRule, { ...rule("default"), body: { muted: true, reason } })).status).toBe(200);
    const { rules } = (await world.ask(listRules)).body;
    expect(rules).toMatchObject([
      { name: "default", muted: true, of: "best-guess" },
      { name: "thrice", muted: false },
    ]);
    for (const wrong of [{ of: "event.id" }, { within: "2h" }, { more: 0 }, { of: "best-guess" }]) {
      expect((await world.ask(putRule, { ...rule("thrice"), body: { ...wrong, reason } })).status).toBe(400);
    }
    expect((await world.ask(removeRule, { ...rule("default"), body: { reason } })).body.code).toBe("RULE_KEPT");
    expect((await world.ask(removeRule, { ...rule("thrice"), body: { reason } })).body).toEqual({ removed: "thrice" });
    expect((await world.ask(removeRule, { ...rule("thrice"), body: { reason } })).body.code).toBe("RULE_UNKNOWN");
  });
});
