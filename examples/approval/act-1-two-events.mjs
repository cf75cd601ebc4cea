// Act 1: Bullhorn fires INSERTED, and within the second UPDATED. Two events, one draft, one entry in the queue.
import { line } from "../shop/counts.mjs";
import { until } from "../shop/until.mjs";
import { placements } from "./agency.mjs";

export async function twoEvents({ idem, queue, stripe }) {
  const fire = (id, eventType) =>
    idem().send({ name: "bullhorn/placement.event", data: { placementId: id, eventType } });
  const sent = await Promise.all(placements.flatMap(({ id }) => [fire(id, "INSERTED"), fire(id, "UPDATED")]));
  const decisions = sent.flatMap((each) => each.decisions);
  const duplicates = decisions.filter(({ kind }) => kind === "duplicate-key");
  await until("every run waits for a person", async () => {
    const runs = await idem().runs.list({ state: "waiting", limit: 100 });
    // Asleep for a person, and not until the next try of a step that failed.
    return runs.length >= placements.length && queue.list().length >= placements.length;
  });
  const { invoices, lost } = stripe.facts();
  return {
    reason: duplicates[0]?.reason,
    lines: [
      line("events from Bullhorn", 24, sent.length),
      line("runs started", 12, decisions.filter(({ kind }) => kind === "started").length),
      line("duplicates, answered with the first run", 12, duplicates.length),
      line("answers of Stripe's that were lost", 1, lost),
      line("drafts at Stripe", 12, invoices.length),
      line("entries in the queue", 12, queue.list().length),
    ],
  };
}
