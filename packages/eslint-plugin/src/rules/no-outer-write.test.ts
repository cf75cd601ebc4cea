import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { ${body} });`;

tell("no-outer-write", {
  right: {
    "a value that is returned": fn(`const user = await step.run("load", () => 1); return user;`),
    "variables of the step itself": fn(
      `await step.run("a", () => { const all = []; let n = 0; for (const each of event.data) { n += 1; all.push(each); } return all; });`,
    ),
    "a variable of the handler that is written between steps": fn(
      `let total = 0; for (const each of event.data.items) { total += await step.run(\`a-\${each}\`, () => 1); } return total;`,
    ),
    "a variable nobody looks at outside": fn(`let timer; await step.run("a", () => { timer = 1; return timer; });`),
    "a client that is opened when it is first needed": `let client; ${fn(`await step.run("a", () => { client ??= new Client(); return client.ask(); });`)}`,
    "the same, written out": `let client; ${fn(`await step.run("a", async () => { if (!client) client = await connect(); return client.ask(); });`)}`,
    "what is somebody else's": `import { queue } from "./queue"; ${fn(`await step.run("a", () => queue.add(event.data));`)}`,
  },
  wrong: {
    "a step that writes to a variable of the handler": {
      code: fn(
        `let user; await step.run("load", async () => { user = await find(event.data.id); }); return user.name;`,
      ),
      ids: ["step"],
      says: "writes to user",
    },
    "a step that fills a list of the handler": {
      code: fn(`const all = []; await step.run("load", () => { all.push(1); }); return all.length;`),
      ids: ["step"],
    },
    "a memory of the process that is to stop the second time": {
      code: `const done = new Set(); ${fn(`await step.run("a", async () => { if (done.has(event.data.id)) return; done.add(event.data.id); });`)}`,
      ids: ["module"],
    },
    "the same, imported": {
      code: `import { seen } from "./seen.js"; ${fn(`await step.run("a", async () => { if (seen.has(event.data.id)) return; seen.add(event.data.id); });`)}`,
      ids: ["module"],
    },
    "a flag of the module that the function sets": {
      code: `let isSent = false; ${fn(`if (isSent) return; isSent = true; await step.run("a", () => 1);`)}`,
      ids: ["module"],
    },
    "a promise that is kept for all runs": {
      code: `let sending; ${fn(`await step.run("a", async () => { sending ??= fetch("https://a.example/b", { method: "POST" }); await sending; });`)}`,
      ids: ["module"],
    },
  },
});
