// What passed between server and app for a run, as lines one can compare with docs/reference/wire.md#traces:
//
//   call step 0: 206 StepPlanned p1, StepPlanned p2      the app was asked what comes next, in attempt 0, and said this
//   call p1 0: 206 StepRun p1                            the app was asked for one step
//   checkpoint a                                         the app reported a step and heard that it is safe
import { expect } from "vitest";
import type { Exchange, Reply, Wire } from "./wire.ts";

export class Traces {
  private readonly lines = new Map<string, string[]>();
  /** When the server first said of a step, "<run> <step>", that it is safe. */
  readonly safeAtMs = new Map<string, number>();
  /** When an app first answered with a step it had run. */
  readonly answeredAtMs = new Map<string, number>();
  /** Runs of which an answer was streamed. */
  readonly streamed = new Set<string>();
  private readonly names = new Map<string, string>();
  private readonly waiting = new Set<() => void>();

  constructor(calls: Wire, reports: Wire) {
    calls.watch((exchange, reply) => this.called(exchange, reply));
    reports.watch((exchange, reply) => this.reported(exchange, reply));
  }

  of(runId: string): readonly string[] {
    return this.lines.get(runId) ?? [];
  }

  /** Resolves when the run's trace holds such a line. */
  has(runId: string, line: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.of(runId).includes(line)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  private called({ method, body, query }: Exchange, reply: Reply): void {
    if (method !== "POST") return;
    const call = parsed(body);
    const { ctx } = call ?? {};
    if (typeof ctx?.run_id !== "string") return;
    const { status, answer, headers } = unwrapped(reply);
    if (reply.status === 201) this.streamed.add(ctx.run_id);
    const ops: readonly any[] = status === 206 && Array.isArray(answer) ? answer : [];
    for (const op of ops) {
      this.names.set(op.id, nameOf(op));
      if (op.op === "StepRun") noteFirst(this.answeredAtMs, `${ctx.run_id} ${nameOf(op)}`);
    }
    const stepId = query.get("stepId")!;
    const target = stepId === "step" ? "step" : (this.names.get(stepId) ?? stepId);
    const flags = [
      ...(target === "step" && ctx.disable_immediate_execution ? ["plan only"] : []),
      ...(call.use_api ? ["fetched"] : []),
    ];
    const said = ops.map((op) => (op.op === "RunComplete" ? op.op : `${op.op} ${nameOf(op)}`)).join(", ");
    const refusal = headers["x-inngest-no-retry"] === "true" && status >= 400 ? " no retry" : "";
    const asked = `call ${target} ${ctx.attempt}${flags.map((flag) => ` (${flag})`).join("")}`;
    this.add(ctx.run_id, `${asked}: ${status}${said === "" ? "" : ` ${said}`}${refusal}`);
  }

  private reported({ path, body }: Exchange, { status }: Reply): void {
    const [, runId] = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(path) ?? [];
    if (runId === undefined) return;
    const steps: readonly any[] = parsed(body)?.steps ?? [];
    const names = steps.filter(({ op }) => op === "StepRun").map(nameOf);
    if (names.length === 0) return;
    if (status < 300) for (const name of names) noteFirst(this.safeAtMs, `${runId} ${name}`);
    this.add(runId, `checkpoint ${names.join(", ")}${status < 300 ? "" : ` refused ${status}`}`);
  }

  private add(runId: string, line: string): void {
    this.lines.set(runId, [...this.of(runId), line]);
    for (const look of [...this.waiting]) look();
  }
}

function noteFirst(times: Map<string, number>, step: string): void {
  if (!times.has(step)) times.set(step, Date.now());
}

/** A streamed answer is a 201 that holds the real one. */
function unwrapped({ status, body, headers }: Reply) {
  const answer = parsed(body);
  if (status !== 201) return { status, answer, headers };
  return { status: answer.status as number, answer: parsed(answer.body), headers: answer.headers as Reply["headers"] };
}

const nameOf = (op: any): string => {
  const { id, index } = op.userland ?? {};
  return id === undefined ? String(op.displayName ?? op.name ?? op.id) : index ? `${id}:${index}` : id;
};

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Lines in this order; those of an inner list in any. */
export function expectTrace(lines: readonly string[], expected: readonly (string | readonly string[])[]): void {
  let at = 0;
  const arranged = expected.flatMap((part) => {
    const wanted = typeof part === "string" ? [part] : [...part].sort();
    const found = lines.slice(at, at + wanted.length);
    at += wanted.length;
    return typeof part === "string" ? found : [...found].sort();
  });
  expect([...arranged, ...lines.slice(at)]).toEqual(
    expected.flatMap((part) => (typeof part === "string" ? [part] : [...part].sort())),
  );
}
