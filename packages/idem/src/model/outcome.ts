// An attempt's outcome: a value or an error, both as JSON text, kept for as long as the run.

export type Outcome =
  | { readonly kind: "value"; readonly json: string }
  | { readonly kind: "error"; readonly json: string };

export const noValue: Outcome = { kind: "value", json: "null" };
