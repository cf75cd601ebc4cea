// Whose code made a client and its functions, for a tool that loads that code again (`idem/verify`). Kept as V8 takes it down, 13 to 48 µs and 1
// to 4 kB for each (5 to 50 frames, on a busy machine), and written out only on demand.

/** The stack of that moment, as `Error` has it. */
export interface Trace {
  readonly stack?: string;
}

export interface Makers {
  readonly client: Trace;
  /** By the function's full name. */
  readonly functions: Map<string, Trace>;
}

// By a name all copies of this package share: a test and the program it looks at may each have one.
const place = Symbol.for("idem.makers");

const framesMax = 60;

export function traceAbove(below: (...args: never[]) => unknown): Trace {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = framesMax;
  const trace: Trace = {};
  Error.captureStackTrace(trace, below);
  Error.stackTraceLimit = before;
  return trace;
}

export function noteMakers(client: object, trace: Trace): void {
  const makers: Makers = { client: trace, functions: new Map() };
  Object.defineProperty(client, place, { value: makers });
}

/** Null for what is no client of Idem's. */
export const makersOf = (client: object): Makers | null => (client as { readonly [place]?: Makers })[place] ?? null;
