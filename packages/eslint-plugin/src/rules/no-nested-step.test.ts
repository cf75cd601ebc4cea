import { tell } from "../cases.suite.ts";

tell("no-nested-step", {
  right: {
    "steps beside each other": `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
      const one = await step.run("one", () => 1);
      await step.run("two", () => one + 1);
    });`,
    "a step in a callback that stands in no step": `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
      await Promise.all(event.data.items.map((item) => step.run(\`do-\${item.id}\`, () => item.id)));
    });`,
    "a helper with a step that is called between steps": `
      const charge = (step, id) => step.run("charge", () => id);
      inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await charge(step, event.data.id); });`,
  },
  wrong: {
    "a step in the body of another": {
      code: `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
        await step.run("outer", async () => { await step.sleep("inner", "1h"); });
      });`,
      ids: ["nested"],
      says: 'step "inner" stands in step "outer"',
    },
    "a step in a helper that a step calls, under another name": {
      code: `
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step: tools }) => {
          const charge = async () => { await tools.run("charge", () => event.data.id); };
          await tools.run("outer", async () => { await charge(); });
        });`,
      ids: ["nested"],
    },
    "a step in a helper that is itself the body of a step": {
      code: `
        async function body() { await step.run("inner", () => 1); }
        await step.run("outer", body);`,
      ids: ["nested"],
    },
  },
});
