// The doctor's findings, in words for people and in data for programs.

export interface Finding {
  /** Stable name of the kind of thing, for programs. */
  readonly kind: string;
  /** A problem is something to act on and makes the doctor exit with 1; a note is not. */
  readonly level: "problem" | "note";
  readonly title: string;
  readonly details: readonly string[];
  /** The advice. */
  readonly next: string | null;
  /** The same, for programs. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** From a file they come at once, from a server page by page. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

export const instant = (ms: number): string => new Date(ms).toISOString();

/** "60 s", "10 min", "24 h" */
export function span(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms <= 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}

export const times = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
