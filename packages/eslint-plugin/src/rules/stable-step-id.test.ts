import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step, attempt }) => { ${body} });`;

tell("stable-step-id", {
  right: {
    "an id that is written down": fn(`await step.run("charge", () => 1);`),
    "an id of what it is about": fn(
      "for (const item of event.data.items) await step.run(`charge-${item.id}`, () => 1);",
    ),
    "chance that was drawn in a step": fn(
      "const variant = await step.run('choose', () => Math.random()); await step.run(`mail-${variant}`, () => 1);",
    ),
    "time inside of a step": fn(`await step.run("note", () => Date.now());`),
    "an end by time that is a failure, and one behind the last step": fn(
      `if (Date.now() > event.data.due) throw new Error("too late"); await step.run("a", () => 1); if (Date.now() > 1) return 2;`,
    ),
    "an instant to sleep until": fn(`await step.sleepUntil("morning", new Date(Date.now() + 1000));`),
  },
  wrong: {
    "an id with the time in it": {
      code: fn("await step.run(`charge-${Date.now()}`, () => 1);"),
      ids: ["id"],
      says: "Date.now()",
    },
    "an id by chance, by way of a variable and a helper": {
      code: `import { randomUUID as draw } from "node:crypto";
        const name = () => \`charge-\${draw()}\`;
        ${fn("const id = name(); await step.run(id, () => 1);")}`,
      ids: ["id"],
    },
    "an id with the attempt in it": { code: fn("await step.run(`charge-${attempt}`, () => 1);"), ids: ["attempt"] },
    "a branch on chance or on time": {
      code: fn(`if (Math.random() < 0.5) await step.run("blue", () => 1);
        const isLate = Date.now() > event.data.due;
        if (isLate) { await step.run("remind", () => 1); }`),
      ids: ["branch", "branch"],
    },
    "an end by time before a step": {
      code: fn(`if (Date.now() > event.data.due) return; await step.run("a", () => 1);`),
      ids: ["branch"],
    },
    "steps for each part of a list in an order by chance": {
      code: fn(
        "const all = event.data.names.sort(() => Math.random() - 0.5); for (const [i, name] of all.entries()) await step.run(`mail-${i}`, () => name);",
      ),
      ids: ["id"],
    },
    "steps of a list that is another each time": {
      code: fn(`await Promise.all(pick(event.data.names, Math.random()).map((name) => step.run("mail", () => name)));`),
      ids: ["order"],
    },
  },
});
