// A served run's needs from outside, wherever its steps are kept: time, chance, and a server that takes what it sends.
import { limits } from "../engine/limits.ts";
import type { FunctionCode } from "../execute/function-code.ts";
import { SiblingPlans } from "../execute/sibling-plans.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { Expressions } from "../model/expression.ts";
import { fromJson } from "../model/json.ts";
import { StepIds } from "../model/step-id.ts";
import { UlidSource } from "../model/ulid.ts";
import type { ServedClient } from "../sdk/remote-client.ts";
import { sendToServer } from "../sdk/remote-send.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { CallPorts } from "./served-call.ts";

/** One for a handler: what it keeps is the same for all calls. */
export function callPorts(served: ServedClient): (runId: string, code: FunctionCode) => CallPorts {
  const { platform, server } = served;
  const ids = new UlidSource(
    () => platform.wallMs(),
    (count) => platform.randomBytes(count),
  );
  const stepIds = new StepIds();
  const expressions = new Expressions(limits.expressionsCached);
  const plans = new SiblingPlans();
  return (runId, code) => ({
    dispatch: { jobId: runId, generation: 0 },
    plans,
    now: () => platform.wallMs(),
    random: () => platform.randomBytes(1)[0]! / 256,
    newId: () => ids.next(),
    stepId: (name, repeat) => stepIds.of(name, repeat),
    soon: (run) => platform.soon(run),
    timer: (ms, run) => platform.timer(ms, run),
    point: (name) => platform.point(name),
    fetch: (request) => platform.fetch(request),
    checkExpression: (expression) => {
      expressions.get(expression);
    },
    // Posted inside the step. Their ids come from the step's destination key, so an attempt that is made again, because its
    // answer got lost, sends duplicates, which start nothing.
    acceptSends: async ({ step, events, fallbackId, traceparent }) => {
      const sent = await sendToServer(server, {
        events,
        middleware: code.middleware,
        check: served.checkEvents,
        now: platform.wallMs(),
        windowMs: null,
        place: (i, count) => `Step "${step}": event ${i + 1} of ${count}`,
        step: { runId, fallbackId },
        traceparent,
        nameOf: (fn) => fn,
      });
      return sent.ids.map((id) => sentEvent(id, runId));
    },
    acceptInvoked: (invoked) =>
      acceptEvent(
        { name: "inngest/function.invoked", data: invoked.data ?? {}, v: invoked.v },
        `The data for function "${invoked.function}"`,
        { eventId: "", now: platform.wallMs(), windowMs: 0, sourceRunId: runId, allowReserved: true },
        limits,
      ),
    signal: (signal, json) => {
      const { data } = fromJson(json) as { data: unknown };
      return server.signal(signal, JSON.stringify(data ?? null));
    },
  });
}

/** Of an event the server has, the code hears nothing but its id. */
const sentEvent = (id: string, runId: string): NewEvent => ({
  id,
  callerId: null,
  windowMs: 0,
  name: "",
  data: "{}",
  ts: 0,
  extra: null,
  sourceRunId: runId,
});
