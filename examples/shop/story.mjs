// The whole story: five acts in one world, then every count, what it must be and what it was.
import { setTimeout as delay } from "node:timers/promises";
import { bold, dim, print, yellow } from "../double-invoice/terminal.mjs";
import { doubleClicks } from "./act-1-double-clicks.mjs";
import { crash } from "./act-2-crash.mjs";
import { redelivered } from "./act-3-redelivered.mjs";
import { forgotten } from "./act-4-forgotten.mjs";
import { toldOnce } from "./act-5-told-once.mjs";
import { inAll } from "./counts.mjs";
import { printTable } from "./print-table.mjs";
import { openWorld } from "./world.mjs";

const readingMs = 600;

const killed = ({ killed, started }) => [yellow(`SIGKILL. Shop ${killed} is gone; shop ${started} takes its place.`)];

/** What each act is called, what goes wrong in it, the line that helps, and how it went in words. */
const acts = [
  {
    name: "Double clicks",
    about: "20 customers press Pay two or three times at once, and five of them again in another window.",
    code: 'app.post("/orders/:id/pay", idempotent(keys, { onCrash: "rerun", … }), …)',
    play: doubleClicks,
    tell: ({ clicks, replays, example }) => [
      `${clicks} clicks, 20 of them executed, ${replays} answered with the first one's bytes; 5 second windows refused.`,
      dim(
        `${example.order}, ${example.clicks} clicks, one answer of Stripe's lost; each click is answered ${example.body}`,
      ),
    ],
  },
  {
    name: "A crash between the charge and its record",
    about: "Five more pay. Stripe has charged them, its answers are on the way, and the shop is killed.",
    code: 'stripe.charges.create(…, { "idempotency-key": destinationKey("charge") })',
    play: crash,
    tell: (facts) => [
      ...killed(facts),
      `${facts.chargedAtTheKill} were charged, ${facts.recordedAtTheKill} recorded. Their browsers ask again with the same key,`,
      "the new shop asks Stripe with the same key, and Stripe answers with its first charge.",
    ],
  },
  {
    name: "Redelivered webhooks",
    about: "Stripe tells of every charge three times, and the shop is killed in between.",
    code: 'nodeWebhook(webhook({ source: "stripe", provider: stripe({ secrets }), idem }))',
    play: redelivered,
    tell: (facts) => [
      ...killed(facts),
      `${facts.deliveries} deliveries taken, ${facts.deliveriesFailed} tries that found nobody at home and came again.`,
    ],
  },
  {
    name: "Stripe forgot the key",
    about: "Three charges get no answer; by the time they are retried, Stripe has forgotten their keys.",
    code: 'step.effect("charge", { destination, entity, reconcile }, …)',
    play: forgotten,
    tell: ({ parked }) => [
      "One is found by its mark and recorded. One is surely not there, and sent. The third has no look-up:",
      yellow(`parked: ${parked.reason.split(";")[0]}.`),
      `A person finds ${parked.receipt} in the dashboard and says so; the run goes on, and nothing is sent.`,
    ],
  },
  {
    name: "Told once",
    about: "Five more pay, and the shop is killed while their receipts are with the mail provider.",
    code: 'outbox.sendSync(tx, { name: "order/paid", … }) · receipts.once({ template, recipient, … }, send)',
    play: toldOnce,
    tell: (facts) => [
      ...killed(facts),
      "It finds five mails of which nobody saw the end, asks the provider for their tags, and sends none again.",
    ],
  },
];

export async function tellStory({ folder, pace }) {
  print();
  print(bold("A shop, a Stripe that forgets, and everything that can happen twice"));
  print(dim("  Express, two SQLite files, one process that is killed three times"));
  print();
  const world = await openWorld(folder);
  const table = [];
  try {
    for (const [i, { name, about, code, play, tell }] of acts.entries()) {
      print(bold(`Act ${i + 1} · ${name}`));
      print(`  ${about}`);
      print(dim(`  ${code}`));
      const { lines, ...facts } = await play(world);
      print();
      for (const sentence of tell(facts)) print(`  ${sentence}`);
      print();
      table.push({ name: `${i + 1} ${name}`, lines });
      await delay(readingMs * pace);
    }
    table.push({ name: "In all", lines: await inAll(world) });
  } finally {
    await world.close();
  }
  printTable(table);
}
