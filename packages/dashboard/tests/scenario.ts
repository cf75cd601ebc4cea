// One of everything a page can show: the story, a run of each kind, what operators and providers leave behind. The pages are looked at with
// it in a browser, and the responses of component tests are recorded from it.
import { stripe } from "idem/webhooks";
import { expect, vi } from "vitest";
import { z } from "zod";
import { claimName } from "../src/pages/keys/claim-name.ts";
import { define, type Story, tellStory, type World } from "./world.ts";

const script = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2">';

/** Functions and runs beside the story, for what a page shows of each kind. */
async function addRuns(world: World): Promise<Omit<ScenarioIds, "alert" | "group" | "other">> {
  const start = async (name: string, data: unknown, ...states: readonly string[]): Promise<string> => {
    const run = (await world.send({ name, data })).decisions[0]!.runId!;
    if (states.length > 0) await world.reached(run, ...states);
    return run;
  };
  const failed = new Set<string>();
  await define(
    world,
    { id: "bill-placement", backoff: () => 50 },
    { event: "billing/placement.event" },
    async ({ event, step, runId }) => {
      const placement = await step.run("fetch-placement", () => {
        if (failed.has(runId)) return { id: event.data.placementId, amountCents: 428_000 };
        failed.add(runId);
        throw new Error("Bullhorn answered 503");
      });
      await Promise.all([
        step.run("load-markup-table", () => ({ markup: 0.21 })),
        step.run("load-holidays", () => ["2026-05-14"]),
      ]);
      const effect = { destination: "stripe", entity: `placement-${placement.id}` };
      await step.effect("create-stripe-draft", effect, () => ({
        id: `in_1RPq8x${event.data.eventType}`,
        status: "draft",
        total: placement.amountCents,
      }));
      await step.waitForEvent("wait-for-approval", { event: "invoice/approved", timeout: "5d" });
    },
  );
  const bill = async (eventType: string): Promise<string> => {
    const run = await start("billing/placement.event", { placementId: 48_300, eventType, clientId: 118 });
    const last = async () => (await world.api(`/api/runs/${run}`)).run.timeline.at(-1)?.name;
    await vi.waitFor(async () => expect(await last()).toBe("wait-for-approval"), { timeout: 60_000, interval: 50 });
    return run;
  };
  await define(
    world,
    { id: "pay", idempotency: "event.data.order", retries: 0 },
    { event: "order/paid" },
    async ({ event, step, logger }) => {
      const price = await step.run("price", () => event.data.price);
      logger.warn("the gateway is slow", { ms: 900 });
      return step.run("charge", (amount: number) => ({ charged: amount }), price);
    },
  );
  await define(world, { id: "hostile", retries: 0 }, { event: "hostile/sent" }, async ({ step }) => {
    await step.run(script, () => ({ html: script, turned: "\u202Etxt.exe", big: "9007199254740993" }));
    await step.run("name \u202Etxt.exe", () => {
      throw new Error(`${script}\u202Etxt.exe\u0007`);
    });
  });
  await define(world, { id: "child" }, { event: "child/never" }, ({ step }) =>
    step.waitForEvent("wait-for-nothing", { event: "nothing/came", timeout: "5d" }),
  );
  await define(world, { id: "parent", retries: 0 }, { event: "parent/asked" }, async ({ step }) => {
    const load = (i: number) => () => {
      if (i === 7) throw new Error("Page 7 is gone");
      return i;
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => step.run(`load-page-${i}`, load(i)).catch(() => null)));
    return step.invoke("ask-child", { function: "agency-child" });
  });
  const asked = z.object({
    invoice: z.string().min(3).describe("As accounting numbers them"),
    amount: z.number().positive(),
    currency: z.enum(["eur", "usd"]).default("eur"),
    dueOn: z.iso.date().optional(),
    buyer: z.object({ name: z.string(), isCompany: z.boolean().optional() }),
    lines: z.array(z.string()).optional(),
    reference: z.union([z.string(), z.number()]).optional(),
    html: z.string().describe("<script>window.hacked=1</script>\u202Egpj").optional(),
  });
  await define(world, { id: "write-invoice" }, { event: "billing/invoice.asked" }, () => null, {
    "billing/invoice.asked": asked,
  });
  const cron = { cron: "TZ=Europe/Amsterdam 0 3 * * *" };
  await define(world, { id: "nightly-report", concurrency: { limit: 5 } }, cron, () => null);
  await define(world, { id: "render-image", concurrency: { limit: 2 } }, { event: "catalogue/imported" }, ({ step }) =>
    step.run("render", () => new Promise(() => {})),
  );
  for (let image = 0; image < 6; image++) await world.send({ name: "catalogue/imported", data: { image } });
  const parent = await start("parent/asked", {});
  await vi.waitFor(
    async () => expect((await world.api(`/api/runs/${parent}`)).run.timeline.at(-1)?.childRunId).toBeTruthy(),
    { timeout: 60_000, interval: 50 },
  );
  const paid = await start("order/paid", { order: 7, price: 10 }, "completed");
  const { stepId } = (await world.api(`/api/runs/${paid}`)).run.timeline.at(-1);
  const engine = await world.server.world.engine("default");
  const said = (of: string, kind: string, value: object) =>
    ({ stepId: of, kind, op: "set", value: JSON.stringify(value) }) as const;
  await engine.store.annotate({
    env: "default",
    runId: paid,
    changes: [
      said("", "inngest.score", { helpful: { value: 0.5 } }),
      said("", "userland.customer", { name: `ada ${script}` }),
      said(stepId, "inngest.ai", { model: "small", input_tokens: 812 }),
    ],
  });
  const hostileEvent = await world.send({
    name: "agency/<b>hostile</b>",
    id: 'x"><img src=x onerror=alert(1)>\u202e<b>gnp.exe',
    data: {
      html: '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>',
      rtl: "abc\u202Egpj.exe",
      control: "a\u0000b\u001b[31m",
      long: "x".repeat(5_000),
      many: Array.from({ length: 200 }, (_, i) => i),
    },
  });
  return {
    billed: await bill("INSERTED"),
    billedAgain: await bill("UPDATED"),
    paid,
    hostile: await start("hostile/sent", {}, "failed"),
    parent,
    hostileEvent: hostileEvent.ids[0]!,
  };
}

/** What operators and providers leave behind: the audit, a source with deliveries, verdicts. */
async function addActs(world: World, story: Story): Promise<void> {
  const act = async (path: string, body: unknown, method = "POST") => {
    const response = await fetch(`${world.origin}/api${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  };
  await act(`/runs/${story.sleeping}/cancel`, { reason: "<img src=x onerror=alert(1)>" });
  await act(`/functions/agency-child/pause`, { reason: "wrong order" });
  await act("/radar/channels/ops", { kind: "log", reason: "a test" }, "PUT");
  const secret = "whsec_of_the_agency";
  await act("/webhooks", { name: "stripe", provider: "stripe", secret });
  const url = `${world.origin}/w/stripe`;
  for (const [id, signedWith] of [
    ["evt_1", secret],
    ["evt_1", secret],
    ["evt_2", "whsec_wrong"],
  ] as const) {
    const bytes = Buffer.from(JSON.stringify({ id, type: "invoice.paid", data: { object: { id: "in_1" } } }));
    const signed = { secret: signedWith, bytes, url, id: "", type: null, at: Date.now() };
    const { headers } = stripe({ secrets: [signedWith] }).sign(signed);
    await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: bytes });
  }
  const place = { file: "src/draft-invoice.ts", line: 14 };
  const finding = { id: "6f3c0a6be8b1d2f4", kind: "DOUBLED", isAccepted: false, place, schedule: "die-after-effect:2" };
  const verdict = (fn: string, over: object) => ({
    ...{ function: fn, verdict: "HELD", schedules: 61, effects: 2, findingCount: 0, findings: [], place: null },
    ...{ code: "abcdefghij", at: Date.now() - 2 * 3_600_000 },
    ...over,
  });
  await act("/verdicts", {
    verdicts: [
      verdict(story.drafts, { verdict: "DOUBLED", findingCount: 1, findings: [finding], place }),
      verdict(story.payments, {}),
      verdict("agency-send-placement-welcome", { verdict: "UNPROVEN", schedules: 0 }),
    ],
  });
}

export const claimAddress = (scope: string, key: string) => `/keys/${encodeURIComponent(claimName({ scope, key }))}`;

export function addressesOf(ids: ScenarioIds, { doubled, payments, payment, drafts, again, failed }: Story) {
  return [
    "/",
    "/?range=7d",
    "/runs",
    "/runs?show=doubled",
    `/runs?show=doubled&open=${ids.group}`,
    "/runs?order=newest",
    "/runs?group=function",
    "/runs?group=event",
    "/runs?group=none",
    "/runs?state=failed",
    "/runs?state=failed&group=none",
    "/runs?state=queued",
    `/runs?fn=${payments}`,
    `/runs/${doubled.firstRun}`,
    `/runs/${doubled.secondRun}`,
    `/runs/${failed}`,
    `/runs/${ids.billed}`,
    `/runs/${ids.billedAgain}`,
    `/runs/${ids.billedAgain}?step=create-stripe-draft&tab=input`,
    `/runs/${ids.billed}?step=fetch-placement&tab=attempts`,
    `/runs/${ids.paid}?step=charge`,
    `/runs/${ids.hostile}`,
    `/runs/${ids.hostile}?step=${encodeURIComponent(script)}`,
    `/runs/${ids.parent}?step=ask-child`,
    "/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    `/runs/${ids.billed}/compare/${ids.billedAgain}`,
    "/events",
    "/events?name=agency%2Fweek.ended",
    "/events?outcome=unheard",
    `/events/${again.second}`,
    `/events/${payment.event}`,
    `/events/${ids.other}`,
    `/events/${ids.hostileEvent}`,
    "/events/new?name=stripe/payment.succeeded",
    "/events/new?name=billing/invoice.asked",
    "/keys",
    "/keys?layer=event",
    claimAddress(`fn:${payments}`, payment.key),
    claimAddress("fn:none", "7"),
    "/functions",
    `/functions/${drafts}`,
    `/functions/${payments}`,
    "/functions/agency-nightly-report",
    "/functions/agency-render-image",
    "/functions/agency-write-invoice",
    "/functions/agency-render-image/line",
    "/functions/none",
    "/workers",
    "/apps",
    "/webhooks",
    "/webhooks/stripe",
    "/webhooks/none",
    "/radar",
    `/radar/alerts/${ids.alert}`,
    `/radar/suggestions/${drafts}`,
    "/radar/rules",
    "/radar/history",
    "/explain",
    "/explain?q=48213",
    "/explain?q=pi_3RPq7Lm",
    "/explain?q=evt_482",
    "/explain?q=none",
    "/audit",
    "/settings",
  ];
}

export interface ScenarioIds {
  readonly billed: string;
  readonly billedAgain: string;
  readonly paid: string;
  readonly hostile: string;
  readonly parent: string;
  readonly hostileEvent: string;
  /** The alert about the story's placements. */
  readonly alert: string;
  /** A key that ran twice. */
  readonly group: string;
  /** An event with another amount than the one whose key it has. */
  readonly other: string;
}

export interface Scenario {
  readonly story: Story;
  readonly ids: ScenarioIds;
}

export async function playScenario(world: World): Promise<Scenario> {
  const story = await tellStory(world, { placements: 3 });
  const runs = await addRuns(world);
  await addActs(world, story);
  // The radar looks at what was accepted a moment later.
  await vi.waitUntil(async () => (await world.api("/api/totals")).slipped === 4, { timeout: 60_000 });
  const alertOf = async () =>
    (await world.api("/api/radar/alerts")).alerts.find(
      (each: any) => each.function === story.drafts && each.pairCount === 3,
    );
  await vi.waitUntil(async () => (await alertOf()) !== undefined, { timeout: 60_000 });
  const { events } = await world.api("/api/events?name=stripe/payment.succeeded&limit=10");
  const details = await Promise.all(events.map((event: any) => world.api(`/api/events/${event.internalId}`)));
  const other = details.find((each: any) => each.decisions.some(({ differs }: any) => differs.includes("data.amount")));
  const group = (await world.api("/api/groups?show=doubled")).groups[0].id;
  return { story, ids: { ...runs, alert: (await alertOf()).id, group, other: other.event.internalId } };
}
