// One function, one event, in a world of its own: sleeps take no time, and any step can be answered by the test.
import type { HandlerInput } from "../execute/function-code.ts";
import type { Timeline } from "../observe/timeline.ts";
import type { IdemFunction } from "../sdk/create-function.ts";
import type { RunEnd } from "../sdk/reads-api.ts";
import { type TestIdemOptions, testIdem } from "./test-idem.ts";

export interface ExecuteOptions extends Pick<TestIdemOptions<any>, "fetch" | "logger"> {
  readonly event: { readonly name?: string; readonly id?: string; readonly data?: Record<string, unknown> };
  /**
   * Answers steps by their id instead of running them: a value, or a function called for each attempt (throw to fail it).
   * For waitForEvent it is the event or null, for invoke what the other function returns.
   */
  readonly steps?: Readonly<Record<string, unknown>>;
}

export interface Executed extends RunEnd {
  readonly runId: string;
  readonly timeline: Timeline;
}

export async function execute(fn: IdemFunction, options: ExecuteOptions): Promise<Executed> {
  const mocks = options.steps ?? {};
  const { idem, clock } = testIdem({
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    middleware: [{ name: "mocked steps", transformInput: (input) => ({ ...input, step: mockSteps(input, mocks) }) }],
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
    code.handler,
  );
  await idem.start();
  try {
    const sent = await idem.send({ ...options.event, name: eventName });
    const runId = sent.decisions[0]!.runId!;
    await clock.advanceToEnd();
    const end = await idem.runs.wait(runId);
    const run = await idem.runs.get(runId);
    return { ...end, runId, timeline: run!.timeline };
  } finally {
    await idem.stop();
  }
}

const mockable = new Set([
  "run",
  "transaction",
  "effect",
  "waitForEvent",
  "waitForSignal",
  "invoke",
  "fetch",
  "sleep",
  "sleepUntil",
  "sendEvent",
]);

function mockSteps({ step }: HandlerInput, mocks: Readonly<Record<string, unknown>>): unknown {
  return new Proxy(step as Record<string, (...args: any[]) => unknown>, {
    get(tools, tool: string) {
      const real = tools[tool];
      if (typeof real !== "function" || !mockable.has(tool)) return real;
      return (id: string | { id: string }, ...rest: unknown[]) => {
        const name = typeof id === "string" ? id : id?.id;
        if (typeof name !== "string" || !Object.hasOwn(mocks, name)) return real(id, ...rest);
        const mock = mocks[name];
        return tools.run!(id, typeof mock === "function" ? mock : () => mock);
      };
    },
  });
}
