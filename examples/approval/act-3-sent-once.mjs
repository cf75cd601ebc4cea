// Act 3: the engine is on again and hears what was decided. Then everything that is late comes in: a third event per placement, and tabs
// that were left open.
import { line } from "../shop/counts.mjs";
import { until } from "../shop/until.mjs";
import { clickThrough } from "./act-2-three-people.mjs";
import { placements } from "./agency.mjs";

export async function sentOnce(agency) {
  await agency.switchOn();
  const { queue, stripe } = agency;
  const idem = agency.idem();
  const ended = (name) =>
    until(`every run has ended, ${name}`, async () => {
      const runs = await idem.runs.list({ limit: 100 });
      return runs.every(({ state }) => state === "completed" || state === "failed") && runs;
    });
  await ended("after the decisions");

  const late = await Promise.all(
    placements.map(({ id }) =>
      idem.send({ name: "bullhorn/placement.event", data: { placementId: id, eventType: "UPDATED" } }),
    ),
  );
  const lateClicks = await clickThrough(agency);
  const runs = await ended("after what came late");

  const entries = queue.list();
  const countOf = (state) => entries.filter((entry) => entry.state === state).length;
  const { invoices } = stripe.facts();
  const endsOf = (what) => invoices.reduce((sum, invoice) => sum + (invoice[what] ?? 0), 0);
  const told = await idem.events.list({ name: "invoice/decided", limit: 100 });
  const doubled = await idem.effects.doubled({ destination: "stripe", within: "30d" });
  return {
    lateClicks: lateClicks.length,
    lines: [
      line("decisions out of the outbox", 12, told.length),
      line("runs completed", 12, runs.filter(({ state }) => state === "completed").length),
      line("invoices sent, one for each approved", countOf("approved"), endsOf("sent")),
      line("invoices voided, one for each rejected", countOf("rejected"), endsOf("voided")),
      line("invoices with two ends", 0, invoices.filter(({ sent = 0, voided = 0 }) => sent + voided !== 1).length),
      line("late events that started a run", 0, startedBy(late)),
      line("late clicks that decided something", 0, lateClicks.filter(({ moved }) => moved).length),
      line("placements with two recorded drafts", 0, doubled.length),
    ],
  };
}

const startedBy = (sent) => sent.flatMap(({ decisions }) => decisions).filter(({ kind }) => kind === "started").length;
