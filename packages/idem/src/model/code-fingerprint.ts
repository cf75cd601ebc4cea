// Which code a run began under, and that it went on under another one. The fingerprint is of the handler's own text and the function's
// options: what the handler calls elsewhere is not in it.
import { createHash } from "node:crypto";
import { fromJson, toJson } from "./json.ts";

/** 60 bits of a hash, in ten characters: it stands in the row of every run. */
export const codeFingerprint = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 10);

export interface CodeChange {
  /** Fingerprints of the code before and since. */
  readonly from: string;
  readonly to: string;
}

// A step's own id is a hash: it cannot begin like this.
const prefix = "code-";

/** The n-th change of a run, counted from 1. */
export const codeChangeId = (n: number): string => `${prefix}${n}`;

export const isCodeChange = ({ stepId }: { readonly stepId: string }): boolean => stepId.startsWith(prefix);

export const codeChangeJson = ({ from, to }: CodeChange): string => toJson({ from, to }, "a change of code");

export function readCodeChange(json: string): CodeChange {
  const { from, to } = (fromJson(json) ?? {}) as Partial<Record<keyof CodeChange, unknown>>;
  return { from: String(from ?? ""), to: String(to ?? "") };
}
