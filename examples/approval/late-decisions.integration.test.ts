// The edges of the wait, with a clock that moves when told.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testIdem } from "idem/testing";
import { expect, onTestFinished, test } from "vitest";
import { openQueue } from "./approval-queue.mjs";
import { fakeStripe } from "./fake-stripe.mjs";
import { invoicePlacement } from "./invoice-placement.mjs";

type Queue = Awaited<ReturnType<typeof openQueue>>;

async function openOffice(seenBy: (queue: Queue) => Queue = (queue) => queue) {
  const folder = mkdtempSync(join(tmpdir(), "idem-approval-late-"));
  const queue = await openQueue(`${folder}/agency.db`);
  const { idem, clock } = testIdem({ id: "agency" });
  const stripe = fakeStripe({ losesAnswerFor: null });
  const bullhorn = { placements: { get: async (id: number) => ({ id, amountCents: 100 }) } };
  invoicePlacement(idem, { bullhorn, stripe, queue: seenBy(queue) });
  onTestFinished(async () => {
    await idem.stop();
    queue.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await idem.start();
  const { decisions } = await idem.send({ name: "bullhorn/placement.event", data: { placementId: 7 } });
  await idem.idle();
  return { idem, clock, queue, stripe, runId: decisions[0]!.runId! };
}

test("an entry nobody decides expires after two weeks, and who approves it then is told so", async () => {
  const { idem, clock, queue, stripe, runId } = await openOffice();
  await clock.advance("13d");
  expect(queue.get(1)).toMatchObject({ state: "pending" });
  await clock.advance("2d");
  expect((await idem.runs.wait(runId)).output).toEqual({ invoice: "in_1", state: "expired", by: null });
  expect(stripe.facts().invoices).toMatchObject([{ id: "in_1", voided: 1 }]);
  expect(queue.decide(1, { to: "approved", by: "Anna" })).toMatchObject({ moved: false, row: { state: "expired" } });
});

test("an entry that is decided before its run listens is sent all the same, without any event", async () => {
  const { idem, stripe, runId } = await openOffice((queue) => ({
    ...queue,
    get: (id: number) => {
      queue.decide(id, { to: "approved", by: "Ben" });
      return queue.get(id);
    },
  }));
  expect((await idem.runs.wait(runId)).output).toEqual({ invoice: "in_1", state: "approved", by: "Ben" });
  expect(stripe.facts().invoices).toMatchObject([{ id: "in_1", sent: 1 }]);
});

test("an approval in the moment the run gives up is sent, and not voided", async () => {
  let isLate = false;
  const { idem, clock, queue, stripe, runId } = await openOffice((real) => ({
    ...real,
    adapter: {
      ...real.adapter,
      // Somebody is a moment faster than the transaction that expires the entry.
      transactionSync: (body: (tx: never) => unknown) => {
        if (isLate) real.decide(1, { to: "approved", by: "Carla" });
        isLate = false;
        return real.adapter.transactionSync(body as never);
      },
    },
  }));
  isLate = true;
  await clock.advance("15d");
  expect((await idem.runs.wait(runId)).output).toEqual({ invoice: "in_1", state: "approved", by: "Carla" });
  expect(queue.get(1)).toMatchObject({ state: "approved", decided_by: "Carla" });
  expect(stripe.facts().invoices).toMatchObject([{ id: "in_1", sent: 1 }]);
});
