// What the process that hosts an app and the test that started it say to each other.

/** Given as JSON in the first argument. */
export interface HostOptions {
  readonly apps: readonly HostedApp[];
  /** "connect": no listener, workers that open a socket. */
  readonly by: "serve" | "connect";
}

export type Adapter = "node" | "express" | "hono";

export interface HostedApp {
  readonly id: string;
  /** The last part of its URL; its id unless given. */
  readonly path?: string;
  readonly adapter: Adapter;
  readonly checkpointing?: boolean | { readonly bufferedSteps?: number; readonly maxRuntime?: string };
  readonly streaming?: boolean;
  /** How many requests of its run its middleware throws around, before it lets them through. */
  readonly throwsAround?: number;
  readonly functions: readonly FunctionSet[];
}

/** Sets of functions, in functions/<set>.ts. */
export type FunctionSet =
  | "traces"
  | "tools"
  | "failures"
  | "flow"
  | "ticks"
  | "sizes"
  | "chain"
  | "moved"
  | "refused"
  | "wrong";

/** Lines of its standard output. Written before anything else happens, so that a kill cannot take them back. */
export type Line =
  | { readonly kind: "ready"; readonly ports: Readonly<Partial<Record<Adapter, number>>> }
  /** A step's own code begins. */
  | {
      readonly kind: "enter";
      readonly atMs: number;
      readonly fn: string;
      readonly run: string;
      readonly step: string;
      /** Counted from 0, as the app sees it. */
      readonly attempt: number;
    }
  | { readonly kind: "note"; readonly fn: string; readonly run: string; readonly text: string };

/** From the test to the host. */
export type Order =
  | { readonly kind: "release"; readonly run: string }
  | { readonly kind: "send"; readonly id: number; readonly app: string; readonly events: readonly object[] }
  | {
      readonly kind: "signal";
      readonly id: number;
      readonly app: string;
      readonly signal: string;
      readonly data: object;
    };

/** From the host to the test. */
export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}
