// A step's input, for people who look at its run: the list of a callback's arguments, or what another tool was asked for. Executing
// never reads it. As JSON text it begins with a bracket or a brace; in place of what cannot be kept stands a number, its size, or a text,
// the reason.
import { toJson } from "./json.ts";

/** Arguments are mostly ids. More than this is in the event or in an outcome as well, where it is kept whole. */
export const inputBytesMax = 64 * 1024;

const reasonCharsMax = 300;

/** As it is kept. A run must not fail because of it: this throws nothing. */
export function inputText(value: readonly unknown[] | Readonly<Record<string, unknown>>): string {
  try {
    return keptInput(toJson(value, "Its input"));
  } catch (error) {
    return JSON.stringify((error instanceof Error ? error.message : String(error)).slice(0, reasonCharsMax));
  }
}

/** The same for what is JSON already. */
export function keptInput(json: string): string {
  const bytes = Buffer.byteLength(json);
  return bytes > inputBytesMax ? String(bytes) : json;
}

/** Why there is nothing to show, in words; null for an input that was kept. */
export function lostInput(text: string): string | null {
  if (text.startsWith("[") || text.startsWith("{")) return null;
  const marker: unknown = JSON.parse(text);
  if (typeof marker === "string") return `It could not be kept as JSON: ${marker}`;
  return `It has ${marker} bytes of JSON, more than the ${inputBytesMax} that are kept`;
}
