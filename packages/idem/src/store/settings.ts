// Settings that people make in a running system rather than in code: sources of webhooks, and anything else that has a name and a value.
// The store keeps JSON it never reads, by kind and name.

import type { AuditAction, Audited } from "./audit.ts";
import { searchKind } from "./event-values.ts";

/**
 * A function's temporary limits, under the function's name (flow/concurrency/temporary.ts). They are read with the function, and
 * `registration` grows with a change of them: no process goes on by older ones.
 */
export const limitKind = "limit";

export interface Setting {
  readonly kind: string;
  readonly name: string;
  /** JSON text. It may hold secrets: lists for people show parts of it, never the whole. */
  readonly value: string;
  /** Grows with every change, from 1. */
  readonly version: number;
  readonly changedAt: number;
}

export interface SettingInput extends Audited {
  readonly env: string;
  readonly kind: string;
  readonly name: string;
  /** Null removes it. */
  readonly value: string | null;
  /** Only over this version; 0 only where there is none; null over any. */
  readonly over: number | null;
  /** For the audit, which keeps that and why it was changed, not the value. Null for what no person changed: nothing is kept. */
  readonly reason: string | null;
}

export type SettingAnswer =
  | { readonly kind: "set"; readonly version: number }
  /** Somebody else changed it; nothing was done. */
  | { readonly kind: "differs"; readonly version: number };

export interface SettingRow {
  readonly value: string;
  readonly version: number;
}

/** Processes go by them when they decide: `registration` grows with a change. */
export const isDecidedBy = (kind: string): boolean => kind === limitKind || kind === searchKind;

/** A limit is a function's, and is looked for under its name. */
export const auditedAs = ({
  kind,
  name,
}: Pick<SettingInput, "kind" | "name">): { readonly action: AuditAction; readonly subject: string } =>
  kind === limitKind
    ? { action: "change-limit", subject: name }
    : { action: "change-setting", subject: `${kind}:${name}` };

/** The answer to a change; `write` is false where there is nothing to write. */
export function changeSetting(
  existing: SettingRow | undefined,
  { value, over }: Pick<SettingInput, "value" | "over">,
): { readonly answer: SettingAnswer; readonly write: boolean } {
  const version = existing?.version ?? 0;
  // The same again is the same change, told twice.
  if ((existing?.value ?? null) === value) return { answer: { kind: "set", version }, write: false };
  if (over !== null && over !== version) return { answer: { kind: "differs", version }, write: false };
  return { answer: { kind: "set", version: value === null ? 0 : version + 1 }, write: true };
}
