// How the sets of functions are written: a function `f` of app `a` is triggered by the event `a/f`.
import type { Inngest } from "inngest";
import type { RunContext } from "../say.ts";

export interface Given extends RunContext {
  readonly event: any;
  readonly events: readonly any[];
  readonly group: any;
  readonly defer: any;
}

export type Define = (fn: string, options: object, handler: (given: Given) => unknown) => any;

export interface AppParts {
  readonly inngest: Inngest.Any;
  readonly app: string;
  readonly define: Define;
}

export const definer =
  (inngest: Inngest.Any, app: string): Define =>
  (fn, options, handler) =>
    inngest.createFunction(
      { id: fn, triggers: [{ event: `${app}/${fn}` }], ...options } as any,
      ((context: any) => handler({ ...context, fn })) as any,
    );
