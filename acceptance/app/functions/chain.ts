// Work that is killed in the middle: steps in a row and side by side, each long enough to be hit.
import { told } from "../say.ts";
import type { AppParts } from "./define.ts";

const stepMs = 80;

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(value), stepMs));

export function chain({ define }: AppParts): any[] {
  return [
    define("chain", {}, async (run) => {
      let sum = 0;
      for (let i = 1; i <= 5; i++) {
        const before = sum;
        sum = await told(run, `link-${i}`, () => later(before + i));
      }
      return sum;
    }),
    define("fan", {}, async (run) => {
      const all = await Promise.all([4, 5, 6].map((n) => told(run, `blade-${n}`, () => later(n))));
      return told(run, "hub", () => later(all.reduce((sum, each) => sum + each, 0)));
    }),
  ];
}
