// JSON from outside. JSON.parse recurses, so how deep a text goes is looked at before it is parsed.
import { isUtf8 } from "node:buffer";
import { errors } from "../model/errors.ts";
import { jsonDepthMax } from "../model/json.ts";

/** Lists of events, ops and memos stand around values that may be as deep as `jsonDepthMax` themselves. */
export const bodyDepthMax = jsonDepthMax + 8;
const reasonCharsMax = 200;

const quote = 0x22;
const backslash = 0x5c;

export function readJson(body: Uint8Array): unknown {
  if (body.length === 0) throw errors.BODY_INVALID({ why: "it is empty" });
  if (!isUtf8(body)) throw errors.BODY_INVALID({ why: "it is not UTF-8" });
  if (isDeeperThan(body, bodyDepthMax)) {
    throw errors.BODY_INVALID({ why: `it is nested deeper than ${bodyDepthMax} levels` });
  }
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  try {
    // Windows editors and PowerShell write a byte order mark, which JSON.parse does not take.
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw errors.BODY_INVALID({ why: (error as Error).message.slice(0, reasonCharsMax) });
  }
}

function isDeeperThan(body: Uint8Array, max: number): boolean {
  if (body.length <= max) return false;
  let depth = 0;
  let inText = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    // [ and { differ from ] and } by 2, and each pair by 0x20.
    else if ((byte! | 0x20) === 0x7b) {
      if (++depth > max) return true;
    } else if ((byte! | 0x20) === 0x7d) depth--;
  }
  return false;
}
