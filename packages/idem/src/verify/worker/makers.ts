// Whose code made a function: the line that defines it, and the files that were at work then and when its client was made. Each of them may have handed it
// something, so what they import is what the function may use.
import type { FunctionCode } from "../../execute/function-code.ts";
import type { TakenClient } from "../../sdk/take-client.ts";
import type { Place } from "../thing.ts";
import { ownPlace, stackAbove } from "./caller.ts";
import { isOurs } from "./our-folder.ts";

export interface Made {
  /** Null where no line of the user's is seen. */
  readonly place: Place | null;
  /** Null where it is unknown: what called them is not on the stack any more. */
  readonly by: readonly string[] | null;
}

/** Deeper ones are not read to their end. */
const framesMax = 200;

/** Where a module begins: what Node's loader calls, and what we load for a configuration. */
const beginning = /\(?node:internal\/modules\/|\bat (?:async )?loadModules \(/;

/** Reads the frames from the innermost to the beginning of the module they are in. Pure. */
export function makersIn(stack: string): Made {
  const lines = stack.split("\n");
  const end = lines.findIndex((line) => beginning.test(line));
  const own = (end === -1 ? lines : lines.slice(0, end)).flatMap((line) => ownPlace(line, isOurs) ?? []);
  // Code that was made of a text stands in no file.
  const isWhole = end !== -1 && own.length > 0 && !lines.slice(0, end).some((line) => line.includes("eval at "));
  return { place: own[0] ?? null, by: isWhole ? [...new Set(own.map(({ file }) => file))] : null };
}

const joined = (one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null =>
  one === null || other === null ? null : [...new Set([...one, ...other])];

export class Makers {
  private readonly made = new Map<FunctionCode, Made>();

  /** Called while the client is being constructed: its functions are pushed to `codes` from here on. */
  follow({ codes }: TakenClient): void {
    const client = makersIn(stackAbove(this.follow, framesMax));
    const push = (...more: FunctionCode[]): number => {
      const { place, by } = makersIn(stackAbove(push, framesMax));
      for (const code of more) this.made.set(code, { place, by: joined(client.by, by) });
      return Array.prototype.push.apply(codes, more);
    };
    Object.defineProperty(codes, "push", { value: push });
  }

  of(code: FunctionCode): Made {
    return this.made.get(code) ?? { place: null, by: null };
  }
}
