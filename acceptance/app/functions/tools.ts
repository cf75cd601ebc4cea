// One function for each tool of the SDK that is not in a trace.
import { referenceFunction } from "inngest";
import { createDefer } from "inngest/experimental";
import { note, released, told } from "../say.ts";
import type { AppParts } from "./define.ts";

export function tools({ inngest, app, define }: AppParts): any[] {
  const later = createDefer(inngest, { id: "later" }, (async ({ event, runId, parents }: any) => {
    note({ fn: "later", runId }, `${parents[0].runId} ${event.data.n}`);
  }) as any);
  const unasked = createDefer(inngest, { id: "unasked" }, (async () => {}) as any);
  return [
    later,
    unasked,
    define("scores", {}, async ({ step, runId }) => {
      const score = (name: string, value: number, of: object = {}) =>
        (inngest as any).score({ runId, name, value, ...of });
      await step.run("judged", () => score("inside", 1));
      await score("outside", 0.5);
      await score("of_the_step", 0, { stepId: "judged" });
    }),
    define("tells", {}, ({ step }) =>
      step.invoke("ask it", { function: referenceFunction({ appId: app, functionId: "mirrors" }), data: { n: 1 } }),
    ),
    define("mirrors", { triggers: [] }, ({ event }) => ({ data: event.data, meta: event.meta })),
    define("nested", {}, async (run) => {
      const left = async () => {
        const a1 = await told(run, "a1", () => 1);
        const inner = await Promise.all([told(run, "a2", () => a1 + 1), told(run, "a3", () => a1 + 2)]);
        return told(run, "a4", () => inner.reduce((sum, each) => sum + each, 0));
      };
      const right = async () => {
        const b1 = await told(run, "b1", () => 10);
        return told(run, "b2", () => b1 * 2);
      };
      return Promise.all([left(), right()]);
    }),
    define("thousand", {}, async (run) => {
      const { count } = run.event.data;
      const all = await Promise.all(Array.from({ length: count }, (_, i) => told(run, `s${i}`, () => i)));
      return all.reduce((sum, each) => sum + each, 0);
    }),
    define("waits", {}, async ({ step, event }) => {
      const approved = await step.waitForEvent("w", {
        event: `${app}/approve`,
        timeout: event.data.timeout ?? "1h",
        if: "event.data.id == async.data.id",
      });
      return approved === null ? "nobody" : approved.data.by;
    }),
    define("signalled", {}, async ({ step, event }) => {
      const { signal, timeout } = event.data;
      const got = await step.waitForSignal("s", { signal, timeout: timeout ?? "1h", onConflict: "fail" });
      return got === null ? "nobody" : got.data;
    }),
    define("signals", {}, ({ step, event }) =>
      step.sendSignal("send", { signal: event.data.signal, data: { from: "a run" } }),
    ),
    define("sends", {}, async ({ step, event }) => {
      const { ids } = await step.sendEvent(
        "send",
        event.data.numbers.map((n: number) => ({ name: `${app}/received`, data: { n } })),
      );
      return ids;
    }),
    define("received", {}, (run) => told(run, "receive", () => run.event.data.n)),
    define("fetches", { retries: 1 }, async ({ step, event }) => {
      const answer = await step.fetch(event.data.url, { method: "POST", headers: { "x-a": "b" }, body: '{"ask":1}' });
      return { status: answer.status, kind: answer.headers.get("x-kind"), body: await answer.text() };
    }),
    define("infers", {}, async ({ step, event }) => {
      const answer = await step.ai.infer("llm", {
        model: step.ai.models.openai({ model: "gpt-4o-mini", apiKey: "sk-secret", baseUrl: event.data.url }),
        body: { messages: [{ role: "user", content: "hi" }] },
      });
      return answer.choices[0].message.content;
    }),
    define("defers", {}, async (run) => {
      run.defer("kept", { function: later, data: { n: 1 } });
      const dropped = run.defer("dropped", { function: later, data: { n: 2 } });
      await told(run, "a", () => "a");
      dropped.abort();
      return told(run, "b", () => "b");
    }),
    define("holds", {}, async (run) => {
      await told(run, "before", () => "before");
      await told(run, "held", () => released(run.runId));
      return told(run, "after", () => "after");
    }),
    define("asks", {}, ({ step, event }) =>
      step.invoke("ask", {
        function: referenceFunction({ appId: event.data.app, functionId: "answers" }),
        data: { n: event.data.n },
      }),
    ),
    define("answers", { triggers: [] }, ({ event }) => event.data.n + 1),
    define("keyed", { idempotency: "event.data.order" }, (run) => told(run, "charge", () => run.event.data.order)),
    define("computes", {}, async (run) => {
      const { step, event } = run;
      const noted = (id: string, work: (n: number) => number) => (n: number) => {
        note(run, `${id} ${n}`);
        return work(n);
      };
      const doubled = await step.run(
        "double",
        noted("double", (n) => n * 2),
        event.data.n,
      );
      const squared = await step.run(
        "square",
        noted("square", (n) => n * n),
        doubled,
      );
      return step.run(
        "negate",
        noted("negate", (n) => -n),
        squared,
      );
    }),
    define("until", {}, ({ step }) => step.sleepUntil("then", new Date(Date.now() - 1_000))),
    define("attempt", { retries: 0 }, ({ attempt }) => attempt),
    define("repeats", {}, async (run) => {
      const all = [];
      for (let i = 0; i < 3; i++) all.push(await told(run, "same", () => i));
      return all;
    }),
  ];
}
