import { describe, expect, test } from "vitest";
import { Expressions } from "../model/expression.ts";
import { takeEquality } from "../model/expression-equality.ts";
import type { RemoteRun } from "./call-remote.ts";
import type { Work } from "./operation.ts";
import type { PlannedWait, RunPorts } from "./ports.ts";
import { planWait } from "./remote-waits.ts";
import { makeStepTools } from "./step-tools.ts";

const expressions = new Expressions();
const event = { name: "order/placed", data: { orderId: 7 } };

const ports = (waitsAreKept: "here" | "elsewhere"): RunPorts =>
  ({
    now: () => 0,
    checkExpression: (text: string) => void expressions.get(text),
    ...(waitsAreKept === "here"
      ? { takeEquality: (text: string) => takeEquality(expressions.get(text), structuredClone(event)) }
      : {}),
  }) as unknown as RunPorts;

const keptOf = (planned: PlannedWait) => {
  const { wait } = planned;
  if (wait.kind !== "event") throw new Error("not a wait for an event");
  return { path: wait.path, value: wait.value, rest: wait.rest };
};

function ofTool(
  options: { match?: string; if?: string },
  { kept = "here", own = event }: { kept?: "here" | "elsewhere"; own?: unknown } = {},
) {
  let planned: PlannedWait | undefined;
  const pass = {
    request: (_kind: string, name: string, work: (ids: object) => Work) => {
      const asked = work({ stepId: name, name, repeat: 0 });
      if (asked.kind === "wait") planned = asked.plan();
    },
  };
  const tools = makeStepTools({ pass, ports: ports(kept), event: own, inputs: {}, limits: {} } as never, () => {});
  tools.waitForEvent("paid", { event: "order/paid", timeout: "1h", ...options });
  return keptOf(planned!);
}

function ofApp(condition: string | null) {
  const op = { op: "wait-for-event", stepId: "s", name: "paid", repeat: 0, race: false } as const;
  const run = { ports: ports("here") } as unknown as RemoteRun;
  return keptOf(planWait({ ...op, event: "order/paid", timeout: "1h", if: condition }, run));
}

describe("a wait for an event is kept under one equality", () => {
  test("of its expression", () => {
    expect(ofTool({ if: "async.data.id == event.data.orderId" })).toEqual({ path: "data.id", value: "7", rest: null });
    const both = "async.data.id == event.data.orderId && async.data.total > 5";
    expect(ofTool({ if: both })).toEqual({ path: "data.id", value: "7", rest: both });
    expect(ofTool({})).toEqual({ path: "", value: "", rest: null });
  });

  test("of its match, with the expression left to evaluate", () => {
    expect(ofTool({ match: "data.orderId" })).toEqual({ path: "data.orderId", value: "7", rest: null });
    const text = "async.data.id == 'x'";
    expect(ofTool({ match: "data.orderId", if: text })).toEqual({ path: "data.orderId", value: "7", rest: text });
  });

  test("of what an app asks for, with the run's event put in or not", () => {
    expect(ofApp("event.data.orderId == async.data.orderId")).toEqual({ path: "data.orderId", value: "7", rest: null });
    expect(ofApp("7 == async.data.orderId")).toEqual({ path: "data.orderId", value: "7", rest: null });
    expect(ofApp("'7' == async.data.orderId")).toEqual({ path: "data.orderId", value: '"7"', rest: null });
    expect(ofApp("async.data.total > 5")).toEqual({ path: "", value: "", rest: "async.data.total > 5" });
    expect(ofApp(null)).toEqual({ path: "", value: "", rest: null });
  });

  test("of the event as it is stored, whatever the code did to its own", () => {
    const changed = { ...event, data: { orderId: 8 } };
    expect(ofTool({ if: "async.data.id == event.data.orderId" }, { own: changed })).toMatchObject({ value: "7" });
  });

  test("only where it is kept: whoever passes it on passes the whole expression on", () => {
    const text = "async.data.id == event.data.orderId";
    expect(ofTool({ if: text }, { kept: "elsewhere" })).toEqual({ path: "", value: "", rest: text });
  });

  test("and an expression that cannot be compiled is refused wherever it is kept", () => {
    for (const kept of ["here", "elsewhere"] as const) {
      for (const options of [{ if: "async." }, { if: "async.", match: "data.id" }, { if: null as never }]) {
        expect(() => ofTool(options, { kept })).toThrow(expect.objectContaining({ code: "EXPRESSION_INVALID" }));
      }
    }
    expect(() => ofApp("async.")).toThrow(expect.objectContaining({ code: "EXPRESSION_INVALID" }));
  });
});
