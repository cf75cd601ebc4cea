// From what an author calls the same to a name that two values never share.
import { createHash } from "node:crypto";
import { canonicalJson } from "../../model/json.ts";

/** As a list in JSON: ["a", "b:c"] and ["a:b", "c"] stay apart, and so do 7 and "7". */
export const businessKeyText = (parts: readonly (string | number | null | undefined)[] | string): string =>
  canonicalJson(typeof parts === "string" ? [parts] : parts.map((part) => part ?? null));

export const businessKeyHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 40);
