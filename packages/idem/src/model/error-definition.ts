// The parts of an error of Idem's.

export type Retry = "never" | "later" | "after-fix";
export type Facts = Record<string, unknown>;

export interface ErrorDefinition {
  /** Whether the same call can succeed without a change: `later` yes, `after-fix` once the caller changed something. */
  readonly retry: Retry;
  readonly what: (facts: never) => string;
  readonly next: string;
}

export const define = <F extends Facts>(definition: {
  retry: Retry;
  what: (facts: F) => string;
  next: string;
}): ErrorDefinition & { readonly facts?: F } => definition;
