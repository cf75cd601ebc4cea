import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { ${body} });`;

tell("unique-step-id", {
  right: {
    "ids of what each turn is about": fn(
      "for (const item of event.data.items) await step.run(`charge-${item.id}`, () => 1);",
    ),
    "the same id in two branches of which one is taken": fn(
      `if (event.data.ok) await step.run("tell", () => 1); else await step.run("tell", () => 2);`,
    ),
    "the same id in two functions": `${fn(`await step.run("tell", () => 1);`)} ${fn(`await step.run("tell", () => 1);`)}`,
  },
  wrong: {
    "one id in every turn of a loop": {
      code: fn(`for (const item of event.data.items) await step.run("charge", () => item);`),
      ids: ["loop"],
    },
    "one id for every part of a list": {
      code: fn(`await Promise.all(event.data.items.map((item) => step.run("charge", () => item)));`),
      ids: ["loop"],
    },
    "two steps with one id": {
      code: fn(`await step.run("tell", () => 1);\nawait step.run("tell", () => 2);`),
      ids: ["twice"],
      says: "line 1",
    },
  },
});
