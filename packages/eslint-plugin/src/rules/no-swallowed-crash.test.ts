import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => { ${body} });`;

tell("no-swallowed-crash", {
  right: {
    "a catch that throws again": fn(
      `try { await step.run("a", () => 1); } catch (error) { console.error(error); throw error; }`,
    ),
    "a catch that does something else instead": fn(
      `try { await step.run("a", () => 1); } catch (error) { await step.run("b", () => 2); }`,
    ),
    "a catch that answers": fn(
      `try { await step.run("a", () => 1); } catch (error) { return { failed: String(error) }; }`,
    ),
    "a value that stands for the failure, and is looked at": fn(
      `const found = await step.run("a", () => 1).catch(() => null); if (found === null) throw new Error("no");`,
    ),
    "a loop that tries again inside of a step": fn(`await step.run("a", async ({ key }) => {
      for (let i = 0; i < 3; i++) { try { await stripe.charges.create({}, { idempotencyKey: key }); return; } catch (error) { console.error(error); } }
      throw new Error("in vain");
    });`),
    "outcomes that are looked at": fn(
      `const all = await Promise.allSettled([step.run("a", () => 1)]); if (all.some(({ status }) => status === "rejected")) throw new Error("no");`,
    ),
    "an answer that is looked at": fn(`await step.run("a", async ({ key }) => {
      const answer = await fetch("https://a.example/b", { method: "POST" });
      if (answer.status === 409) return "there";
      if (answer.status === 429) throw new RetryAfterError("later", 1000);
      if (!answer.ok) throw new Error("no");
    });`),
    "a catch around what leaves nothing behind": fn(
      `await step.run("a", async () => { try { return JSON.parse(event.data.text); } catch { } });`,
    ),
  },
  wrong: {
    "a catch around a step that only tells a log": {
      code: fn(`try { await step.run("mail", () => 1); } catch (error) { console.error(error); }`),
      ids: ["step"],
      says: 'swallows the failure of step "mail"',
      mended: fn(`try { await step.run("mail", () => 1); } catch (error) { console.error(error); throw error;\n}`),
    },
    "an empty catch, and one of the promise": {
      code: fn(`try { await step.run("a", () => 1); } catch { } await step.run("b", () => 1).catch(() => {});`),
      ids: ["step", "step"],
    },
    "a catch inside of a step, around its effect": {
      code: fn(
        `await step.run("a", async () => { try { await emailService.send({ to: "t" }); } catch (error) { logger.error(error); } });`,
      ),
      ids: ["effect"],
    },
    "outcomes nobody looks at": {
      code: fn(`await Promise.allSettled([step.run("a", () => 1), step.run("b", () => 2)]);`),
      ids: ["settled"],
    },
    "an answer nobody looks at": {
      code: fn(`await step.run("a", async () => { await fetch("https://a.example/b", { method: "POST" }); });`),
      ids: ["unread"],
    },
    "a refusal that is taken for success": {
      code: fn(`await step.run("a", async ({ key }) => {
        const answer = await fetch("https://a.example/b", { method: "POST", headers: { "idempotency-key": key } });
        if (answer.status === 409) return "there";
        if (answer.status === 429) return "another time";
        if (!answer.ok) throw new Error("no");
      });`),
      ids: ["refused", "refused"],
    },
  },
});
