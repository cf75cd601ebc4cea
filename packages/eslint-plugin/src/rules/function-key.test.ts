import { tell } from "../cases.suite.ts";

tell("function-key", {
  right: {
    "a key": `idem.createFunction({ id: "a", idempotency: "event.data.placementId" }, { event: "crm/placement.made" }, async ({ event }) => event.data.placementId);`,
    "a key in the options of its own": `idem.createFunction({ id: "a", idempotency: { key: "event.data.placementId", window: "3d" } }, { event: "b/c" }, async () => {});`,
    "a reason for having none": `idem.createFunction({ id: "a", idempotency: { none: "each click is new work" } }, { event: "b/c" }, async () => {});`,
    "a comment as the reason, where keys are texts": `
      import { Inngest } from "inngest";
      const inngest = new Inngest({ id: "app" });
      // no key: each message is new work
      export const one = inngest.createFunction({ id: "a" }, { event: "b/c" }, async () => {});
      export const two = inngest.createFunction({
        id: "b", // no key: whoever sends it sends it once
        triggers: [{ event: "b/d" }],
      }, async () => {});`,
    "functions of a clock, of invocations and of batches": `
      inngest.createFunction({ id: "a" }, { cron: "0 9 * * *" }, async () => {});
      inngest.createFunction({ id: "b", triggers: [] }, async () => {});
      inngest.createFunction({ id: "c" }, [], async () => {});
      inngest.createFunction({ id: "d", triggers: [cron("0 9 * * *")] }, async () => {});
      inngest.createFunction({ id: "e", batchEvents: { maxSize: 10, timeout: "5s" } }, { event: "b/c" }, async () => {});`,
    "one whose events are gathered by a key": `inngest.createFunction({ id: "a", debounce: { period: "5m", key: "event.data.userId" } }, { event: "b/c" }, async () => {});`,
    "one whose events a step of this file sends": `
      inngest.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ step }) => { await step.sendEvent("ask", { name: "b/asked", data: {} }); });
      inngest.createFunction({ id: "b" }, { event: "b/asked" }, async () => {});`,
    "one whose deliveries a receiver of this file claims": `
      import { webhook } from "idem/webhooks";
      export const receive = webhook({ source: "stripe", provider, idem });
      idem.createFunction({ id: "a" }, { event: "stripe/invoice.paid" }, async () => {});`,
    "one whose rows are known again by the database": `
      inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
        await step.run("write", () => db.prepare("insert or ignore into invoices (placement) values (?)").run(event.data.placementId));
      });`,
    "one puller, to which all events are the same": `inngest.createFunction({ id: "pull", singleton: { mode: "skip" } }, [{ event: "crm/pull" }, { cron: "* * * * *" }], async ({ step }) => step.run("pull", () => pull()));`,
    "options and triggers that are not written here": `
      inngest.createFunction({ id: "a", ...shared }, { event: "b/c" }, async () => {});
      inngest.createFunction(options, { event: "b/c" }, async () => {});
      inngest.createFunction({ id: "b" }, triggers, async () => {});`,
    "a key that names the owner, of an event that is about the owner": `inngest.createFunction({ id: "a", idempotency: "event.data.userId" }, { event: "user/upgraded" }, async ({ event }) => event.data.planId);`,
  },
  wrong: {
    "a function that writes rows, of which one is not known again": {
      code: `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
        await step.run("write", () => db.prepare("insert or ignore into invoices (placement) values (?)").run(event.data.placementId));
        await step.run("note", () => db.prepare("insert into notes (placement) values (?)").run(event.data.placementId));
      });`,
      ids: ["missing"],
    },
    "a function without a key": {
      code: `inngest.createFunction({ id: "draft-invoice" }, { event: "bullhorn/placement.event" }, async ({ event, step }) => {
        await step.run("draft", () => event.data.placementId + event.data.clientId);
      });`,
      ids: ["missing"],
      says: 'The function "draft-invoice" has no key',
      mended: `inngest.createFunction({ id: "draft-invoice", idempotency: "event.data.placementId" }, { event: "bullhorn/placement.event" }, async ({ event, step }) => {
        await step.run("draft", () => event.data.placementId + event.data.clientId);
      });`,
    },
    "a function of SDK v4, and options under a name": {
      code: `const options = { id: "a", triggers: [{ event: "b/c" }, { cron: "0 9 * * *" }] };
        inngest.createFunction(options, async () => {});`,
      ids: ["missing"],
    },
    "a function of the first SDKs, whose trigger is a name": {
      code: `inngest.createFunction({ name: "Draft" }, "crm/placement.made", async () => {});`,
      ids: ["missing"],
    },
    "a reason that says nothing": {
      code: `idem.createFunction({ id: "a", idempotency: { none: "" } }, { event: "b/c" }, async () => {});`,
      ids: ["reason"],
    },
    "limits that count the events of all things together": {
      code: `
        inngest.createFunction({ id: "a", debounce: { period: "30s" } }, { event: "b/c" }, async ({ event }) => event.data.id);
        inngest.createFunction({ id: "b", singleton: { mode: "skip" } }, { event: "b/c" }, async ({ event }) => event.data.id);
        inngest.createFunction({ id: "c", rateLimit: { limit: 1, period: "1h" } }, { event: "b/c" }, async (context) => context.event.data.id);`,
      ids: ["forAll", "forAll", "forAll"],
    },
    "a key that names only the owner of what the event is about": {
      code: `inngest.createFunction({ id: "a", idempotency: "event.data.clientId" }, { event: "crm/placement.made" }, async ({ event }) => event.data.placementId);`,
      ids: ["wide"],
      says: "the second placement of one client",
    },
  },
});
