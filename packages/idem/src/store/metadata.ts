// Metadata of runs, as it is kept (model/metadata.ts).
import { isJsonObject } from "../model/json.ts";
import type { MetadataChange } from "../model/metadata.ts";

/** By run, step and kind. */
export interface Metadata {
  /** "" for the run itself. */
  readonly stepId: string;
  readonly kind: string;
  /** JSON text of an object. */
  readonly value: string;
  readonly changedAt: number;
}

export interface AnnotateInput {
  readonly env: string;
  readonly runId: string;
  readonly changes: readonly MetadataChange[];
}

export type AnnotateAnswer =
  | { readonly kind: "annotated" }
  | { readonly kind: "unknown" }
  /** Nothing of the call was kept. */
  | { readonly kind: "too-large"; readonly bytes: number; readonly max: number };

/** Of one kind of one step. */
export const metadataBytesMax = 64 * 1024;
/** Of one run. */
export const runMetadataBytesMax = 1024 * 1024;

export type MetadataRow = Omit<Metadata, "changedAt">;

/** A run's metadata once the changes are made: the rows that change, or that there is too much of it. */
export function changeMetadata(
  existing: readonly MetadataRow[],
  changes: readonly MetadataChange[],
): { readonly rows: readonly MetadataRow[] } | Extract<AnnotateAnswer, { kind: "too-large" }> {
  const nameOf = ({ stepId, kind }: { readonly stepId: string; readonly kind: string }) =>
    JSON.stringify([stepId, kind]);
  const before = new Map(existing.map((row) => [nameOf(row), row]));
  const after = new Map(before);
  for (const { stepId, kind, op, value } of changes) {
    const name = nameOf({ stepId, kind });
    const known = after.get(name);
    after.set(name, { stepId, kind, value: op === "set" || known === undefined ? value : merged(known.value, value) });
  }
  const rows = [...after].filter(([name, { value }]) => before.get(name)?.value !== value).map(([, row]) => row);
  const largest = Math.max(0, ...rows.map(bytesOf));
  if (largest > metadataBytesMax) return { kind: "too-large", bytes: largest, max: metadataBytesMax };
  const all = [...after.values()].reduce((sum, row) => sum + bytesOf(row), 0);
  if (rows.length > 0 && all > runMetadataBytesMax) return { kind: "too-large", bytes: all, max: runMetadataBytesMax };
  return { rows };
}

const bytesOf = ({ kind, value }: MetadataRow): number => Buffer.byteLength(kind) + Buffer.byteLength(value);

function merged(known: string, value: string): string {
  const [before, over] = [JSON.parse(known) as unknown, JSON.parse(value) as unknown];
  return JSON.stringify({ ...(isJsonObject(before) ? before : {}), ...(isJsonObject(over) ? over : {}) });
}
