// A function, an event and its run, in a world of its own: what most tests of runs begin with.
import type { FunctionOptions, HandlerContext } from "../sdk/function-types.ts";
import type { RunEnd } from "../sdk/reads-api.ts";
import { type TestIdemOptions, type TestWorld, testIdem } from "./test-idem.ts";

/**
 * The stores that tests of engine, flow options, toolkit and API run on. SQLite alone, because the contract and the simulator prove the stores
 * equal; `npm run proof -- stores` runs the same tests on all of them.
 */
export const stores: readonly ("memory:" | "sqlite::memory:")[] =
  process.env.IDEM_TEST_STORES === "all" ? ["memory:", "sqlite::memory:"] : ["sqlite::memory:"];

export interface OneRunOptions extends TestIdemOptions<any> {
  readonly fn?: Partial<FunctionOptions>;
  readonly event?: { readonly id?: string; readonly data?: Record<string, unknown> };
  /** More functions, defined before the client starts. */
  readonly also?: (idem: TestWorld<any>["idem"]) => void;
}

export interface OneRun extends TestWorld<any> {
  readonly runId: string;
  /** Lets time pass until the run has ended. */
  end(): Promise<RunEnd>;
  /** The names of the recorded steps, in the order of their recording. */
  recorded(): Promise<string[]>;
}

export async function oneRun(
  handler: (context: HandlerContext<any>, world: TestWorld<any>) => unknown,
  { fn, event, also, ...options }: OneRunOptions = {},
): Promise<OneRun> {
  const world = testIdem({ store: "memory:", ...options });
  const { idem, clock } = world;
  idem.createFunction({ id: "one", ...fn }, { event: "test/go" }, (context) => handler(context, world));
  also?.(idem);
  await idem.start();
  const sent = await idem.send({ name: "test/go", data: {}, ...event });
  const runId = sent.decisions.find((decision) => decision.function === "one")!.runId!;
  return {
    ...world,
    runId,
    end: async () => {
      await clock.advanceToEnd();
      return idem.runs.wait(runId);
    },
    recorded: async () =>
      (await idem.runs.get(runId))!.timeline
        .filter((entry) => entry.state === "completed" || entry.state === "failed")
        .map((entry) => entry.name),
  };
}

/** A promise and the hands to settle it: how a test holds a step in its middle. */
export function held<T = void>() {
  let release!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    release = resolve;
    fail = reject;
  });
  return { promise, release, fail };
}
