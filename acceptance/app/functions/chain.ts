// Work that is killed in the middle: five steps in a row, each long enough to be hit.
import { told } from "../say.ts";
import type { AppParts } from "./define.ts";

const stepMs = 40;

export function chain({ define }: AppParts): any[] {
  return [
    define("chain", { retries: 20 }, async (run) => {
      let sum = 0;
      for (let i = 1; i <= 5; i++) {
        const before = sum;
        sum = await told(
          run,
          `link-${i}`,
          () => new Promise((resolve) => setTimeout(() => resolve(before + i), stepMs)),
        );
      }
      return sum;
    }),
  ];
}
