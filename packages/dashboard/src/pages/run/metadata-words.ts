// Kinds of metadata and their values, in words.
import type { MetadataItem } from "./run-data.ts";

const titles: Readonly<Record<string, string>> = {
  "userland.default": "Metadata",
  "inngest.score": "Scores",
  "inngest.ai": "Model",
  "inngest.experiment": "Experiment",
  "inngest.warnings": "Warnings",
};

/** An author's own kinds have the wire's word before them. */
export const metadataTitle = (kind: string): string => titles[kind] ?? kind.replace(/^userland\./, "");

/** One for each field; a score is the number in it. */
export function metadataPairs({ kind, values }: Pick<MetadataItem, "kind" | "values">): [string, string][] {
  const fields = Object.entries((values.value ?? {}) as Record<string, unknown>);
  return fields.map(([name, value]) => [name, textOf(kind === "inngest.score" ? scoreOf(value) : value)]);
}

const scoreOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "value" in value ? value.value : value;

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
