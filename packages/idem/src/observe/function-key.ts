// A function's key as people write it: keys are JSON, where the number 7 and the text "7" differ; people mean the one there is.
import { functionScope } from "../model/claim.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import type { StoreReads } from "../store/reads.ts";

/** Its stored text. */
export async function functionKeyOf(reads: StoreReads, env: string, fn: string, typed: string): Promise<string> {
  const asText = canonicalJson(typed);
  const asJson = jsonOf(typed);
  for (const ofSource of keysOfSource(typed)) {
    if ((await reads.claim(env, functionScope(fn), ofSource)) !== null) return ofSource;
  }
  if (asJson === null || asJson === asText) return asText;
  return (await reads.claim(env, functionScope(fn), asText)) === null ? asJson : asText;
}

/** The key of a delivery is `<source>:<key>` (dedup/derive-key.ts): as it is stored, and as the id of a delivery is written. */
export function keysOfSource(typed: string): readonly string[] {
  const [, source, key] = /^([A-Za-z0-9][A-Za-z0-9._/-]{0,99}):(.+)$/s.exec(typed) ?? [];
  return source === undefined || key === undefined ? [] : [typed, `${source}:${canonicalJson(key)}`];
}

function jsonOf(typed: string): string | null {
  try {
    return canonicalJson(fromJson(typed));
  } catch {
    // An ordinary word is not JSON; it is taken as the text it is.
    return null;
  }
}
