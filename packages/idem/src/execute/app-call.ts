// One call to the app that has a run's code: the memo goes out, the answer comes back in our words.

import { functionUuid } from "../model/function-uuid.ts";
import type { Step } from "../model/step.ts";
import { type CallReply, readCallReply } from "../protocol/call-reply.ts";
import { writeCallRequest } from "../protocol/call-request.ts";
import { metadataOf } from "../protocol/wire-ops.ts";
import type { RemoteRun } from "./call-remote.ts";
import { AppUnreachableError } from "./remote.ts";

type Answer = Exclude<CallReply, { kind: "not-the-app" }>;

export class AppCall {
  private readonly eventJsons: readonly string[];
  private readonly functionId: string;
  /** Which the app speaks; it says so with its first answer. */
  private version = -1;

  constructor(private readonly run: RemoteRun) {
    this.eventJsons = run.events.map((event) => JSON.stringify({ user: {}, ...event }));
    const { env, fn } = run.destination;
    this.functionId = functionUuid(env, fn);
  }

  /** `target` null asks for whatever comes next; `attempt` is counted from 0. */
  async ask(target: string | null, steps: readonly Step[], attempt: number, planOnly: boolean): Promise<Answer> {
    const { pass, ports, runId, destination, code } = this.run;
    const stepId = target ?? "step";
    const call = { runId, stepId, planOnly, requestId: ports.newId(), ...ports.dispatch };
    if (target === null) pass.asking = call.requestId;
    const body = writeCallRequest({
      ...call,
      events: this.eventJsons,
      steps,
      inputs: this.run.inputs,
      version: this.version,
      functionId: this.functionId,
      env: destination.env,
      attempt,
      maxAttempts: this.run.maxAttempts,
      destination,
      open: [...pass.memo.waitingIds, ...pass.memo.retrying.map(({ stepId: id }) => id)],
    });
    const trace = ports.trace?.call(target, attempt + 1) ?? null;
    const traceparent = trace?.traceparent ?? this.run.traceparentOf(call.requestId);
    const answer = await code.remote
      .call({ ...call, traceparent, fn: destination.fn, body, signal: pass.signal })
      .catch((error: unknown) => {
        trace?.failed(error);
        throw error;
      });
    trace?.answered(answer.status);
    const reply = readCallReply(answer);
    if (reply.kind === "not-the-app") throw new AppUnreachableError(`The app could not be reached: ${reply.why}`);
    if (reply.kind === "ops" || reply.kind === "returned") this.version = reply.version;
    const said = reply.kind === "ops" ? metadataOf(reply.ops) : [];
    if (said.length > 0) await ports.annotate?.(said);
    return reply;
  }
}
