// "The bug that double-invoiced 73 clients": Bullhorn fires INSERTED and UPDATED within a second for every placement.
import type { FunctionOptions, Idem, PublicDecision } from "idem";
import { deliverTwice } from "idem/testing";
import { expect, test } from "vitest";
import { Bullhorn } from "./fakes/bullhorn.ts";
import { openShop } from "./fakes/shop.ts";

const placementCount = 73;

/** The function as it was deployed; the fix is one line of its options. */
function agency(fix: Pick<FunctionOptions, "idempotency"> = {}) {
  const shop = openShop();
  const { inngest, stripe, db } = shop;
  const bullhorn = new Bullhorn();
  const draftInvoice = inngest.createFunction(
    { id: "draft-invoice-from-placement", ...fix },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) => {
      const placement = await step.run("fetch-placement", async () => {
        return bullhorn.placements.get(event.data.placementId);
      });

      const draft = await step.run("create-stripe-draft", async () => {
        return stripe.invoices.create({
          customer: placement.clientStripeId,
          collection_method: "send_invoice",
          days_until_due: 30,
          metadata: { placementId: placement.id },
        });
      });

      await step.run("queue-for-approval", async () => {
        return db.invoices.insert({
          stripeInvoiceId: draft.id,
          placementId: placement.id,
          status: "pending_approval",
        });
      });
    },
  );
  return { ...shop, bullhorn, draftInvoice };
}

/** The function with both guarantees: the key on the function, and Stripe's own. */
function agencyWithTwoLayers() {
  const shop = openShop();
  const { inngest, stripe, db } = shop;
  const bullhorn = new Bullhorn();
  const draftInvoice = inngest.createFunction(
    {
      id: "draft-invoice-from-placement",
      idempotency: "event.data.placementId",
    },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) => {
      const placement = await step.run("fetch-placement", async () => {
        return bullhorn.placements.get(event.data.placementId);
      });

      const draft = await step.run("create-stripe-draft", async () => {
        return stripe.invoices.create(
          {
            customer: placement.clientStripeId,
            collection_method: "send_invoice",
            days_until_due: 30,
            metadata: { placementId: placement.id },
          },
          { idempotencyKey: `invoice-placement-${placement.id}` },
        );
      });

      await step.run("queue-for-approval", async () => {
        return db.invoices.insert({
          stripeInvoiceId: draft.id,
          placementId: placement.id,
          status: "pending_approval",
        });
      });
    },
  );
  return { ...shop, bullhorn, draftInvoice };
}

/** A week of placements, a recruiter's hours apart; UPDATED follows INSERTED by 100 ms. */
async function placeCandidates({ inngest, clock, bullhorn }: ReturnType<typeof agency>) {
  const decisions: PublicDecision[] = [];
  for (let id = 1; id <= placementCount; id++) {
    const [inserted, updated] = bullhorn.save({ id, clientStripeId: `cus_${id}` });
    decisions.push(...(await inngest.send(inserted)).decisions);
    await clock.advance("100ms");
    decisions.push(...(await inngest.send(updated)).decisions);
    await clock.advance("2h");
  }
  await inngest.idle();
  return decisions;
}

/**
 * SELECT placement_id, COUNT(*) AS invoice_count, ARRAY_AGG(stripe_invoice_id)
 * FROM invoices
 * WHERE created_at >= NOW() - INTERVAL '7 days'
 * GROUP BY placement_id
 * HAVING COUNT(*) > 1;
 */
function fridayNightQuery({ db, clock }: Pick<ReturnType<typeof agency>, "db" | "clock">) {
  const since = clock.now() - 7 * 24 * 60 * 60 * 1000;
  const groups = new Map<number, string[]>();
  for (const { placementId, stripeInvoiceId, createdAt } of db.invoices.rows) {
    if (createdAt < since) continue;
    groups.set(placementId, [...(groups.get(placementId) ?? []), stripeInvoiceId]);
  }
  return [...groups].filter(([, invoices]) => invoices.length > 1);
}

/** The monitoring rule: any business entity that produced more than one downstream run in a 60-second window. */
async function placementsWithTwoRunsInAMinute(inngest: Idem): Promise<number[]> {
  const createdAt = new Map<number, number>();
  const alerts = new Set<number>();
  const newestFirst = await inngest.runs.list({ function: "draft-invoice-from-placement", limit: 1_000 });
  for (const run of newestFirst.toReversed()) {
    const { placementId } = (await inngest.events.get(run.eventId))!.data as { readonly placementId: number };
    const before = createdAt.get(placementId);
    if (before !== undefined && run.createdAt - before <= 60_000) alerts.add(placementId);
    createdAt.set(placementId, run.createdAt);
  }
  return [...alerts];
}

test("without a key every placement is invoiced twice, and the Friday-night query finds all 73", async () => {
  const world = agency();
  await world.inngest.start();
  const decisions = await placeCandidates(world);
  expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(2 * placementCount);
  expect(world.stripe.invoices.all).toHaveLength(2 * placementCount);

  const rows = fridayNightQuery(world);
  expect(rows).toHaveLength(placementCount);
  for (const [, invoices] of rows) expect(new Set(invoices).size).toBe(2);
});

test("with the one line every placement is invoiced once, and each of 73 suppressed events names its run", async () => {
  const world = agency({ idempotency: "event.data.placementId" });
  const { inngest, stripe } = world;
  await inngest.start();
  const decisions = await placeCandidates(world);
  const started = decisions.filter(({ kind }) => kind === "started");
  const suppressed = decisions.filter(({ kind }) => kind === "duplicate-key");
  expect(started).toHaveLength(placementCount);
  expect(suppressed).toHaveLength(placementCount);
  expect(suppressed.map(({ key, runId }) => [key, runId])).toEqual(started.map(({ key, runId }) => [key, runId]));

  expect(stripe.invoices.all).toHaveLength(placementCount);
  expect(new Set(stripe.invoices.all.map(({ metadata }) => metadata.placementId)).size).toBe(placementCount);
  expect(fridayNightQuery(world)).toEqual([]);
});

test("the dropped event is logged: it is stored, and says it differed in data.eventType", async () => {
  const { inngest, bullhorn } = agency({ idempotency: "event.data.placementId" });
  await inngest.start();
  const [inserted, updated] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  const first = await inngest.send(inserted);
  const second = await inngest.send(updated);
  await inngest.idle();
  expect((await inngest.events.get(second.ids[0]))!.decisions).toMatchObject([
    { kind: "duplicate-key", runId: first.decisions[0]!.runId, differs: ["data.eventType"] },
  ]);
  expect(await inngest.explain(first.decisions[0]!.runId!)).toMatchObject({ spared: [{ eventId: second.ids[0] }] });
});

test("INSERTED and UPDATED at the same instant are one draft", async () => {
  const { inngest, bullhorn, stripe } = agency({ idempotency: "event.data.placementId" });
  await inngest.start();
  const [inserted, updated] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  await Promise.all([inngest.send(inserted), inngest.send(updated)]);
  await inngest.idle();
  expect(stripe.invoices.all).toHaveLength(1);
});

test("the same logical event under two names is one run: the key is the consumer's, whatever the event is called", async () => {
  const { inngest, stripe } = openShop();
  inngest.createFunction(
    { id: "draft-invoice", idempotency: "event.data.placementId" },
    [{ event: "bullhorn/placement.inserted" }, { event: "bullhorn/placement.updated" }],
    async ({ event, step }) => {
      await step.run("create-stripe-draft", () =>
        stripe.invoices.create({
          customer: "cus_1",
          collection_method: "send_invoice",
          days_until_due: 30,
          metadata: { placementId: event.data.placementId },
        }),
      );
    },
  );
  await inngest.start();
  const { started, suppressed } = await deliverTwice(
    inngest,
    { name: "bullhorn/placement.inserted", data: { placementId: 7 } },
    { how: "under-another-name", secondName: "bullhorn/placement.updated" },
  );
  expect(started).toHaveLength(1);
  expect(suppressed).toMatchObject([{ kind: "duplicate-key", runId: started[0] }]);
  expect(stripe.invoices.all).toHaveLength(1);
});

test("both layers last 24 hours: a correction 25 hours later drafts a second invoice", async () => {
  const { inngest, clock, bullhorn, stripe } = agencyWithTwoLayers();
  await inngest.start();
  const [inserted, updated] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  await inngest.send(inserted);
  await clock.advance("25h");
  expect((await inngest.send(updated)).decisions).toMatchObject([{ kind: "started" }]);
  await inngest.idle();
  expect(stripe.invoices.all).toHaveLength(2);
});

test("a key with a window of 90 days answers a correction 25 hours later with the first run", async () => {
  const { inngest, clock, bullhorn, stripe } = agency({
    idempotency: { key: "event.data.placementId", window: "90d" },
  });
  await inngest.start();
  const [inserted, updated] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  const first = await inngest.send(inserted);
  await clock.advance("25h");
  const late = await inngest.send(updated);
  expect(late.decisions).toMatchObject([{ kind: "duplicate-key", runId: first.decisions[0]!.runId }]);
  await inngest.idle();
  expect(stripe.invoices.all).toHaveLength(1);
});

test("an accidental rerun passes the function key and stops at Stripe's: the original invoice, no new one", async () => {
  const { inngest, bullhorn, stripe, db } = agencyWithTwoLayers();
  await inngest.start();
  const [inserted] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  const sent = await inngest.send(inserted);
  await inngest.idle();
  const { runId } = await inngest.runs.rerun(sent.decisions[0]!.runId!);
  expect(await inngest.runs.wait(runId)).toMatchObject({ state: "completed" });

  expect(stripe.invoices.requestCount).toBe(2);
  expect(stripe.invoices.all).toHaveLength(1);
  const rerun = await inngest.runs.get(runId);
  expect(rerun!.timeline.find(({ name }) => name === "create-stripe-draft")!.output).toMatchObject({ id: "in_1" });
  // The approval queue has no such layer: its blind insert lists the one draft twice.
  expect(db.invoices.rows.map(({ stripeInvoiceId }) => stripeInvoiceId)).toEqual(["in_1", "in_1"]);
});

test("a rerun without Stripe's key drafts a second invoice", async () => {
  const { inngest, bullhorn, stripe } = agency({ idempotency: "event.data.placementId" });
  await inngest.start();
  const [inserted] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  const sent = await inngest.send(inserted);
  await inngest.idle();
  await inngest.runs.wait((await inngest.runs.rerun(sent.decisions[0]!.runId!)).runId);
  expect(stripe.invoices.all).toHaveLength(2);
});

test("a draft whose answer was lost is not drafted again on retry", async () => {
  const { inngest, clock, bullhorn, stripe } = agencyWithTwoLayers();
  await inngest.start();
  stripe.invoices.loseNextAnswer();
  const [inserted] = bullhorn.save({ id: 1, clientStripeId: "cus_1" });
  const sent = await inngest.send(inserted);
  await clock.advanceToEnd();
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  expect(stripe.invoices.requestCount).toBe(2);
  expect(stripe.invoices.all).toHaveLength(1);
});

test("the 60-second rule names all 73 placements before the fix and none after, from the list of runs", async () => {
  const before = agency();
  await before.inngest.start();
  await placeCandidates(before);
  expect(await placementsWithTwoRunsInAMinute(before.inngest)).toHaveLength(placementCount);

  const after = agency({ idempotency: "event.data.placementId" });
  await after.inngest.start();
  await placeCandidates(after);
  expect(await placementsWithTwoRunsInAMinute(after.inngest)).toEqual([]);
  // Grouped by key, as the default view should have been: one run each.
  const runs = await after.inngest.runs.list({ limit: 1_000 });
  expect(new Set(runs.map(({ key }) => key)).size).toBe(runs.length);
});
