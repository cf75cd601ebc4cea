// Act 1: the function as it was deployed. Nothing fails, nothing warns, and every client is invoiced twice.
import { join } from "node:path";
import { Idem } from "idem";
import { draftInvoice } from "./draft-invoice.mjs";
import { fireWebhooks } from "./fire-webhooks.mjs";
import { outsideWorld } from "./outside-world.mjs";
import { euros, placements, webhooks } from "./placements.mjs";
import { quiet } from "./quiet.mjs";
import { bold, dim, finish, print, red, showProgress } from "./terminal.mjs";

const rowsShown = 8;

export async function withoutKey({ folder, pages, look, pace }) {
  print(bold("Act 1 · without a key"));
  print(dim('  createFunction({ id: "draft-invoice" }, …)'));
  print();
  const world = outsideWorld(join(folder, "act-1"), { latencyMs: 10 * pace });
  const idem = new Idem({ id: "agency", store: `sqlite:${folder}/act-1.db`, logger: quiet });
  draftInvoice(idem, { id: "draft-invoice" }, world);
  pages.show("act-1", idem);
  await idem.start();
  await look("act-1");
  let drafted = 0;
  await fireWebhooks(pace, async (event) => {
    const { decisions } = await idem.send(event);
    await idem.runs.wait(decisions[0].runId);
    drafted++;
    showProgress("webhooks", drafted, webhooks.length, `${drafted} invoices drafted, no errors`);
  });
  finish();

  const runs = await idem.runs.list({ function: "draft-invoice", limit: 1_000 });
  const doubled = placementsThatRanTwice(runs);
  const cents = doubled.reduce((sum, { placement }) => sum + placement.amountCents, 0);
  print();
  print("  Friday, 14:47: a client calls about two identical invoices. Which placements");
  print("  ran more than once? Ask Idem: idem.runs.list, grouped by placementId, count > 1:");
  print();
  for (const each of doubled.slice(0, rowsShown)) print(`  ${rowOf(each)}`);
  if (doubled.length > rowsShown) print(dim(`  … and ${doubled.length - rowsShown} more like these`));
  print();
  await explainFirst(idem, doubled[0]);
  print(`  The radar finds them by itself, within seconds: ${pages.addressOf("act-1")}radar`);
  print();
  print(red(`  ${doubled.length} of ${placements.length} clients were invoiced twice, ${euros(cents)} too much.`));
  print();
  return {
    what: "without a key",
    webhooks: webhooks.length,
    runs: runs.length,
    drafts: world.stripe.invoices.list(),
  };
}

/** The query of that Friday night: group by placement, having count(*) > 1. */
function placementsThatRanTwice(runs) {
  const oldestFirst = [...runs].reverse();
  return placements
    .map((placement) => ({
      placement,
      runs: oldestFirst.filter(({ output }) => output?.placementId === placement.id),
    }))
    .filter(({ runs }) => runs.length > 1);
}

function rowOf({ placement, runs }) {
  const invoices = runs.map(({ output }) => red(output.stripeInvoiceId)).join(" ");
  const apart = ((runs.at(-1).createdAt - runs[0].createdAt) / 1_000).toFixed(2);
  return `${placement.id}  ${placement.client.padEnd(21)} ${euros(placement.amountCents).padStart(9)}  ${invoices}  ${apart} s apart`;
}

async function explainFirst(idem, { placement, runs }) {
  print(`  And why? idem.explain, for the second run of placement ${placement.id}:`);
  const { story } = await idem.explain(runs.at(-1).id);
  print(`  ${story.title}.`);
  for (const { gate, reason } of story.gates) print(`  ${gate.padEnd(15)}  ${dim(reason)}`);
  print();
}
