// One function, one event, in a world of its own: sleeps take no time, and any step can be answered by the test.

import type { HandlerInput } from "../execute/function-code.ts";
import type { StepTools } from "../execute/step-tools.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { didYouMean } from "../model/nearest-word.ts";
import type { Timeline } from "../observe/timeline.ts";
import type { EventSchemas } from "../sdk/event-types.ts";
import type { IdemFunction } from "../sdk/function-types.ts";
import type { RunEnd } from "../sdk/reads-api.ts";
import { type TestIdemOptions, testIdem } from "./test-idem.ts";

export interface ExecuteOptions extends Pick<TestIdemOptions<EventSchemas>, "fetch" | "logger"> {
  readonly event: { readonly name?: string; readonly id?: string; readonly data?: Record<string, unknown> };
  /**
   * Answers steps by their id instead of running them: a value, or a function called for each attempt (throw to fail it).
   * For waitForEvent it is the event or null, for invoke what the other function returns. One that no step asked for is refused
   * at the end: its name is probably mistyped, and the real step ran.
   */
  readonly steps?: Readonly<Record<string, unknown>>;
}

export interface Executed extends RunEnd {
  readonly runId: string;
  readonly timeline: Timeline;
}

export async function execute(fn: IdemFunction, options: ExecuteOptions): Promise<Executed> {
  refuseUnknown<ExecuteOptions>("execute", options, { event: true, steps: true, fetch: true, logger: true });
  const mocks = options.steps ?? {};
  const asked = new Set<string>();
  const { idem, clock } = testIdem({
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    middleware: [
      { name: "mocked steps", transformInput: (input) => ({ ...input, step: mockSteps(input, mocks, asked) }) },
    ],
  });
  const { code } = fn;
  const eventName = options.event.name ?? "test/event";
  idem.createFunction(
    {
      id: code.config.id,
      retries: code.config.retries,
      ...(code.config.stepTimeoutMs === undefined ? {} : { timeouts: { step: code.config.stepTimeoutMs } }),
      middleware: code.middleware,
      ...(code.backoff === null ? {} : { backoff: code.backoff }),
    },
    { event: eventName },
    (context) => code.handler({ ...context }),
  );
  await idem.start();
  try {
    const sent = await idem.send({ ...options.event, name: eventName });
    const runId = sent.decisions[0]!.runId!;
    await clock.advanceToEnd();
    const end = await idem.runs.wait(runId);
    refuseUnused(code.config.id, Object.keys(mocks), asked, end);
    const run = await idem.runs.get(runId);
    return { ...end, runId, timeline: run!.timeline };
  } finally {
    await idem.stop();
  }
}

/** Left to itself, a mistyped mock lets the real step run, and a test passes that tests something else. */
function refuseUnused(
  fn: string,
  mocks: readonly string[],
  asked: ReadonlySet<string>,
  { state, error }: RunEnd,
): void {
  const unused = mocks.filter((name) => !asked.has(name));
  if (unused.length === 0) return;
  const free = [...asked].filter((name) => !mocks.includes(name));
  const meant = unused.length === 1 ? didYouMean(unused[0]!, free) : "";
  const end = error === null ? state : `${state}: ${error.message}`;
  throw errors.MOCK_UNUSED({ function: fn, mocks: unused, meant, steps: [...asked], end });
}

function mockSteps({ step }: HandlerInput, mocks: Readonly<Record<string, unknown>>, asked: Set<string>): StepTools {
  const tools = step as unknown as Record<string, (...args: unknown[]) => unknown>;
  return new Proxy(step, {
    get(_, tool: string) {
      const real = tools[tool];
      if (typeof real !== "function") return real;
      return (id: string | { id: string }, ...rest: unknown[]) => {
        const name = typeof id === "string" ? id : id?.id;
        if (typeof name === "string") asked.add(name);
        if (typeof name !== "string" || !Object.hasOwn(mocks, name)) return real(id, ...rest);
        const mock = mocks[name];
        return tools.run!(id, typeof mock === "function" ? mock : () => mock);
      };
    },
  });
}
