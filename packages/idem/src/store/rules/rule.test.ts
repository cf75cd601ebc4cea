import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { driveAwaited, type Rule, Sent } from "./rule.ts";

test("what was asked ahead and failed is thrown where it is waited for, and leaves no rejection behind where it is not", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  const fails = (why: string) => new Sent(Promise.reject<never>(new Error(why)));
  function* rule(): Rule<string> {
    const [first, second] = [fails("first"), fails("second")];
    yield* first;
    yield* second;
    return "";
  }
  await expect(driveAwaited(rule())).rejects.toThrow("first");
  await setImmediate();
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});
