// A key as people type it. Keys are kept as JSON, where the number 7 and the text "7" differ; people mean the one there is.
import { functionScope } from "../model/claim.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import { keysOfSource } from "../observe/function-key.ts";
import type { Reading } from "./command.ts";
import { usage } from "./exit.ts";

/** The stored text of a function's key. */
export async function functionKey(reading: Reading, fn: string, typed: string): Promise<string> {
  const asText = canonicalJson(typed);
  const asJson = jsonOf(typed);
  const scope = functionScope(fn);
  for (const ofSource of keysOfSource(typed)) {
    if ((await reading.reads.claim(reading.env, scope, ofSource)) !== null) return ofSource;
  }
  if (asJson === null || asJson === asText) return asText;
  const [text, json] = await Promise.all([
    reading.reads.claim(reading.env, scope, asText),
    reading.reads.claim(reading.env, scope, asJson),
  ]);
  if (text !== null && json !== null) {
    throw usage(
      `Both the key ${asJson} and the key ${asText} exist. Quote the text, such as '${asText}', or rather release both.`,
    );
  }
  return text !== null ? asText : asJson;
}

function jsonOf(typed: string): string | null {
  try {
    return canonicalJson(fromJson(typed));
  } catch {
    // An ordinary word is not JSON; it is taken as the text it is.
    return null;
  }
}
