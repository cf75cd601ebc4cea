import { tell } from "../cases.suite.ts";

const fn = (step: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step, runId, attempt }) => { ${step} });`;

tell("no-attempt-key", {
  right: {
    "the step's own key": fn(
      `await step.run("a", ({ key, attempt }) => { console.log(attempt); return stripe.charges.create({}, { idempotencyKey: key }); });`,
    ),
    "a run's id that is no part of a key": fn(
      `await step.run("a", ({ key }) => stripe.charges.create({ metadata: { runId } }, { idempotencyKey: key }));`,
    ),
    "an attempt that the event tells of": fn(
      "await step.run('a', () => stripe.charges.create({}, { idempotencyKey: `charge-${event.data.attempt}` }));",
    ),
  },
  wrong: {
    "the run's id as a key, which the step's own mends": {
      code: fn(`await step.run("a", async () => stripe.charges.create({}, { idempotencyKey: runId }));`),
      ids: ["run"],
      mended: fn(`await step.run("a", async ({ key }) => stripe.charges.create({}, { idempotencyKey: key }));`),
    },
    "the attempt, of the function and of the step, and how often it was entered": {
      code: fn(`
        await step.run("a", () => stripe.charges.create({}, { idempotencyKey: \`\${event.data.id}-\${attempt}\` }));
        await step.run("b", ({ attempt: nth }) => stripe.charges.create({}, { idempotencyKey: \`\${event.data.id}-\${nth}\` }));
        await step.run("c", (context) => stripe.charges.create({}, { idempotencyKey: \`\${event.data.id}-\${context.entered}\` }));`),
      ids: ["attempt", "attempt", "attempt"],
    },
    "the id of an event that a step sends": {
      code: fn("const id = `done-${runId}`; await step.sendEvent('tell', { id, name: 'b/done', data: {} });"),
      ids: ["run"],
    },
  },
});
