// Values at the limits.
import { told } from "../say.ts";
import type { AppParts } from "./define.ts";

const mebibyte = 1024 * 1024;
const text = (mebibytes: number): string => "x".repeat(mebibytes * mebibyte);

export function sizes({ define }: AppParts): any[] {
  return [
    // More than a call may carry: the app fetches it.
    define("large-memo", {}, async (run) => {
      let length = 0;
      for (const id of ["one", "two", "three", "four", "five", "six"]) {
        length += (await told(run, id, () => text(1))).length;
      }
      await run.step.sleep("nap", "1s");
      const end = await told(run, "end", () => "end");
      return [length, end];
    }),
    define("large-step", { retries: 0 }, async (run) => {
      const caught = await told(run, "large", () => text(5)).then(
        () => "taken",
        (error: Error) => error.message,
      );
      return told(run, "after", () => caught);
    }),
    define("large-output", { retries: 0 }, () => text(9)),
  ];
}
