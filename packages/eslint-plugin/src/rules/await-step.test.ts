import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { ${body} });`;

tell("await-step", {
  right: {
    "steps that are awaited, returned, gathered or kept for later": fn(`
      await step.run("a", () => 1);
      const later = step.run("b", () => 2);
      await Promise.all([step.run("c", () => 3), later]);
      await Promise.all(event.data.items.map((item) => step.run(\`d-\${item}\`, () => item)));
      return step.run("e", () => 5);`),
    "a function that is nothing but a step": `inngest.createFunction({ id: "a" }, { event: "b/c" }, ({ step }) => step.run("a", () => 1));`,
    "one step against the clock": fn(`await Promise.race([step.run("a", () => 1), step.sleep("too-long", "1h")]);`),
    "a race that is said to be one": fn(
      `await group.parallel(async () => Promise.race([step.run("a", () => 1), step.run("b", () => 2)]));`,
    ),
    "a timer that is waited for": fn(`await step.run("a", async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await new Promise((resolve) => setTimeout(() => resolve(fetch("https://a.example/b", { method: "POST" })), 50));
    });`),
    "a driver that waits for nothing, and a mail with a callback": fn(`await step.run("a", () => {
      db.prepare("update a set b = 1").run();
      return new Promise((resolve, reject) => { transport.sendMail({ to: "t" }, (error) => (error ? reject(error) : resolve())); });
    });`),
  },
  wrong: {
    "a step nobody waits for": {
      code: fn(`step.run("a", () => 1);`),
      ids: ["step"],
      mended: fn(`await step.run("a", () => 1);`),
    },
    "a step whose failure is caught and that nobody waits for": {
      code: fn(`step.run("a", () => 1).catch(console.error); void step.run("b", () => 1);`),
      ids: ["step", "step"],
    },
    "a step that is kept and never looked at": { code: fn(`const unused = step.run("a", () => 1);`), ids: ["step"] },
    "a request that a step leaves behind": {
      code: fn(`await step.run("a", async () => { fetch("https://a.example/b", { method: "POST" }); });`),
      ids: ["effect"],
      mended: fn(`await step.run("a", async () => { await fetch("https://a.example/b", { method: "POST" }); });`),
    },
    "steps in forEach": {
      code: fn(`event.data.items.forEach(async (item) => { await step.run(\`a-\${item}\`, () => item); });`),
      ids: ["each"],
    },
    "an effect that is left to a timer": {
      code: fn(`await step.run("a", () => { setTimeout(() => { resend.emails.send({ to: "t" }); }, 50); });`),
      ids: ["timer"],
      says: "setTimeout",
    },
    "a race of two steps that work": {
      code: fn(`await Promise.race([step.run("a", () => 1), step.run("b", () => 2)]);`),
      ids: ["race"],
    },
  },
});
