// Act 2: one line more. Every duplicate is answered with the run that was first, and none of them goes missing in silence.
import { join } from "node:path";
import { Idem } from "idem";
import { draftInvoice } from "./draft-invoice.mjs";
import { fireWebhooks } from "./fire-webhooks.mjs";
import { outsideWorld } from "./outside-world.mjs";
import { placements, webhooks } from "./placements.mjs";
import { quiet } from "./quiet.mjs";
import { bold, dim, finish, green, print, showProgress } from "./terminal.mjs";

export async function withKey({ folder, pages, look, pace }) {
  print(bold("Act 2 · with a key"));
  const line = green('idempotency: "event.data.placementId"');
  print(`${dim('  createFunction({ id: "draft-invoice", ')}${line}${dim(" }, …)")}`);
  print();
  const world = outsideWorld(join(folder, "act-2"), { latencyMs: 10 * pace });
  const idem = new Idem({ id: "agency", store: `sqlite:${folder}/act-2.db`, logger: quiet });
  draftInvoice(idem, { id: "draft-invoice", idempotency: "event.data.placementId" }, world);
  pages.show("act-2", idem);
  await idem.start();
  await look("act-2");
  let answered = 0;
  let suppressed = 0;
  await fireWebhooks(pace, async (event) => {
    const { decisions } = await idem.send(event);
    const [decision] = decisions;
    if (decision.kind === "duplicate-key") {
      suppressed++;
      print(`  ${suppressedLine(event, decision)}`);
    }
    await idem.runs.wait(decision.runId);
    answered++;
    showProgress("webhooks", answered, webhooks.length, `${suppressed} duplicates suppressed`);
  });
  finish();

  const runs = await idem.runs.list({ function: "draft-invoice", limit: 1_000 });
  const drafts = world.stripe.invoices.list();
  const { id } = placements[0];
  print();
  print(`  Idem keeps the story of every key. idem.explain, for key ${id}:`);
  const { story } = await idem.explain({ function: "draft-invoice", key: id });
  print(`  ${story.title}.`);
  for (const { at, text } of story.facts) print(dim(`  ${whenOf(at).padEnd(12)}  ${text}`));
  print();
  print(green(`  ${runs.length} clients, ${drafts.length} invoices, ${suppressed} duplicates suppressed.`));
  print();
  return { what: "with a key", webhooks: webhooks.length, runs: runs.length, drafts };
}

/** What is still to come is so many hours away. */
function whenOf(at) {
  const hours = Math.round((at - Date.now()) / 3_600_000);
  return hours > 0 ? `in ${hours} h` : new Date(at).toISOString().slice(11, 23);
}

function suppressedLine(event, { runId, windowEndsAt }) {
  const { placementId, eventType } = event.data;
  const hours = Math.round((windowEndsAt - Date.now()) / 3_600_000);
  const run = `${runId.slice(0, 4)}…${runId.slice(-6)}`;
  return `placement ${placementId}  ${eventType.padEnd(8)} suppressed → run ${run}  ${dim(`window ends in ${hours}h`)}`;
}
