// One call to the app that has a run's code: the memo goes out, the answer comes back in our words.

import { functionUuid } from "../model/function-uuid.ts";
import type { Step } from "../model/step.ts";
import { type CallReply, readCallReply } from "../protocol/call-reply.ts";
import { writeCallRequest } from "../protocol/call-request.ts";
import { metadataOf } from "../protocol/wire-ops.ts";
import type { RemoteRun } from "./call-remote.ts";
import type { Memo } from "./memo.ts";
import { AppUnreachableError, type RemoteReply } from "./remote.ts";

type Answer = Exclude<CallReply, { kind: "not-the-app" }>;

export class AppCall {
  private readonly eventJsons: readonly string[];
  private readonly functionId: string;
  /** Which the app speaks; it says so with its first answer. */
  private version = -1;

  constructor(private readonly run: RemoteRun) {
    this.eventJsons = run.events.map(jsonOf);
    const { env, fn } = run.destination;
    this.functionId = functionUuid(env, fn);
  }

  /** `target` null asks for whatever comes next; `attempt` is counted from 0. */
  async ask(target: string | null, steps: readonly Step[], attempt: number, planOnly: boolean): Promise<Answer> {
    const { pass, ports, runId, destination, code } = this.run;
    const stepId = target ?? "step";
    const requestId = ports.newId();
    const { generation, jobId } = ports.dispatch;
    if (target === null) pass.asking = requestId;
    const body = writeCallRequest({
      runId,
      stepId,
      planOnly,
      requestId,
      generation,
      jobId,
      events: this.eventJsons,
      steps,
      inputs: this.run.inputs,
      version: this.version,
      functionId: this.functionId,
      env: destination.env,
      attempt,
      maxAttempts: this.run.maxAttempts,
      destination,
      open: openIds(pass.memo),
    });
    const trace = ports.trace?.call(target, attempt + 1) ?? null;
    const traceparent = trace?.traceparent ?? this.run.traceparentOf(requestId);
    const { fn } = destination;
    const call = { fn, runId, stepId, planOnly, body, requestId, generation, jobId, traceparent, signal: pass.signal };
    let answer: RemoteReply;
    try {
      answer = await code.remote.call(call);
    } catch (error) {
      trace?.failed(error);
      throw error;
    }
    trace?.answered(answer.status);
    const reply = readCallReply(answer);
    if (reply.kind === "not-the-app") throw new AppUnreachableError(`The app could not be reached: ${reply.why}`);
    if (reply.kind === "ops" || reply.kind === "returned") this.version = reply.version;
    const said = reply.kind === "ops" ? metadataOf(reply.ops) : [];
    if (said.length > 0) await ports.annotate?.(said);
    return reply;
  }
}

/** SDKs read `user` of every event. */
function jsonOf(event: object): string {
  const json = JSON.stringify(event);
  return "user" in event ? json : `{"user":{},${json.slice(1)}`;
}

const none: readonly string[] = [];

/** Steps that have begun and are not over. */
function openIds({ waitingIds, retrying }: Memo): readonly string[] {
  return retrying.length === 0 && waitingIds.length === 0
    ? none
    : [...waitingIds, ...retrying.map(({ stepId }) => stepId)];
}
