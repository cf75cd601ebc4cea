// An expression ends without a value: refused when it is compiled, failed when it is evaluated.

/** Why an expression cannot be compiled. */
export class Refusal extends Error {}

/** Why an evaluation has no value. */
export class Failure extends Error {}

/** The sentence for an error that left an evaluation; the library's own carry a marked source line that is left out. */
export function failureReason(error: unknown): string {
  const { summary, message } = error as { summary?: unknown; message?: unknown };
  const text = typeof summary === "string" ? summary : String(message);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
