// Children of runs: events they send, functions they invoke, handlers of their failure. With the commit that says so, and once.
import { type Check, groupBy, isEnded } from "./facts.ts";

export const childChecks = {
  "what a run starts is started once"(facts, fail) {
    const { dump } = facts;
    const sent = groupBy(dump.events, ({ sourceRunId }) => sourceRunId);
    for (const { run, steps } of dump.memos) {
      const events = sent.get(run.id) ?? [];
      const named = (name: string) => events.filter((event) => event.name === name);
      const fn = facts.of(run);
      if (fn?.id === "fan-out") {
        const send = steps.find(({ name }) => name === "send");
        const expected = send === undefined ? 0 : (facts.data(run).count as number);
        for (const { id, receivedAt } of send === undefined ? [] : named("children/leaf")) {
          // Recorded a thousand to the millisecond, in order.
          const recordedAt = Math.floor(send!.stamp / 1_000);
          if (Math.abs(recordedAt - receivedAt) > 1) fail(`run ${run.id}: event ${id} was stored without its step`);
        }
        if (named("children/leaf").length !== expected) {
          fail(`run ${run.id}: sent ${named("children/leaf").length} of ${expected} events`);
        }
      }
      if (fn?.id === "parent") {
        const children = named("inngest/function.invoked");
        if (children.length > 1) fail(`run ${run.id}: invoked ${children.length} children`);
        const invoked = steps.find(({ name }) => name === "invoke");
        if (invoked !== undefined) {
          const child = dump.runs.find(({ eventId }) => eventId === children[0]?.id);
          if (child === undefined) fail(`run ${run.id}: has an answer and no child`);
          else if (child.result !== invoked.outcome.json) {
            fail(`run ${run.id}: got ${invoked.outcome.json}, its child returned ${child.result}`);
          }
        }
      }
      if (fn?.failureHandler !== undefined && isEnded(run)) {
        const told = named("inngest/function.failed");
        const expected = run.state === "failed" ? 1 : 0;
        if (told.length !== expected) fail(`run ${run.id} is ${run.state}: ${told.length} handlers were told`);
      }
    }
  },
} satisfies Record<string, Check>;
