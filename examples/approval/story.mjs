// The story in three acts, then every count.
import { setTimeout as delay } from "node:timers/promises";
import { bold, dim, print, yellow } from "../double-invoice/terminal.mjs";
import { printTable } from "../shop/print-table.mjs";
import { twoEvents } from "./act-1-two-events.mjs";
import { threePeople } from "./act-2-three-people.mjs";
import { sentOnce } from "./act-3-sent-once.mjs";
import { openAgency } from "./agency.mjs";

const readingMs = 900;

const acts = [
  {
    name: "Two events, one entry",
    about: "12 placements are saved; Bullhorn fires INSERTED and UPDATED for each.",
    code: '{ id: "invoice-placement", idempotency: "event.data.placementId" }',
    play: twoEvents,
    tell: ({ reason }) => [
      "12 drafts, 12 entries, and 12 runs that wait for a person, for up to two weeks.",
      dim(`every second event: ${reason}`),
    ],
  },
  {
    name: "Three people, one decision",
    about: "The engine is switched off. Anna, Ben and Carla click through the queue at once, everything twice.",
    code: 'transitionSync(adapter, tx, { table: "approval_queue", id, from: "pending", to, set: { decided_by } })',
    play: threePeople,
    tell: ({ byPerson, example, approved, rejected }) => [
      `72 clicks, 12 decisions: ${byPerson.join(", ")}. Approved ${approved}, rejected ${rejected}.`,
      yellow(
        `${example.by} clicks ${wordOf[example.by]} for placement ${example.placementId}: ` +
          `already ${example.state} by ${example.decidedBy}.`,
      ),
    ],
  },
  {
    name: "Sent once",
    about: "The engine is switched on, hears the decisions, and goes on. Then a third event each, and old tabs.",
    code: 'step.waitForEvent("decided", { event: "invoice/decided", match: "data.placementId", timeout: "14d" })',
    play: sentOnce,
    tell: ({ lateClicks }) => [`12 late events and ${lateClicks} late clicks changed nothing.`],
  },
];

const wordOf = { Anna: "approve", Ben: "approve", Carla: "reject" };

export async function tellStory({ folder, pace }) {
  print();
  print(bold("An invoice nobody can approve twice"));
  print(dim("  a durable run per placement, a queue in SQLite, three people in three processes"));
  print();
  const agency = await openAgency(folder);
  await agency.switchOn();
  const table = [];
  try {
    for (const [i, { name, about, code, play, tell }] of acts.entries()) {
      print(bold(`Act ${i + 1} · ${name}`));
      print(`  ${about}`);
      print(dim(`  ${code}`));
      const { lines, ...facts } = await play(agency);
      print();
      for (const sentence of tell(facts)) print(`  ${sentence}`);
      print();
      table.push({ name: `${i + 1} ${name}`, lines });
      await delay(readingMs * pace);
    }
  } finally {
    await agency.close();
  }
  printTable(table);
}
