// Makes, of what an author calls the same, a name that two values never share.
import { createHash } from "node:crypto";
import { canonicalJson } from "../../model/json.ts";
import { isLostInteger } from "../../model/long-number.ts";

/** Throws for an integer past 2^53: two things may have become that one number, and one of them would be taken for the other. */
function refuseLost(part: unknown): void {
  if (!isLostInteger(part)) return;
  throw new Error(`its key has ${part}, a number past 2^53 whose digits JavaScript has lost: make the key of a text`);
}

/** As a list in JSON: ["a", "b:c"] and ["a:b", "c"] stay apart, and so do 7 and "7". */
export function businessKeyText(parts: readonly (string | number | null | undefined)[] | string): string {
  if (typeof parts === "string") return canonicalJson([parts]);
  for (const part of parts) refuseLost(part);
  return canonicalJson(parts.map((part) => part ?? null));
}

export const businessKeyHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 40);
