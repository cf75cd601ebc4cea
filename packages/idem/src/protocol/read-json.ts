// JSON from outside. How deep a text goes and how many values it has is looked at before it is parsed.
import { isUtf8 } from "node:buffer";
import { errors } from "../model/errors.ts";
import { jsonDepthMax, jsonNodeCountMax } from "../model/json.ts";
import { jsonExcess } from "../model/json-size.ts";
import { parseWritten } from "../model/long-number.ts";

/** Lists of events, ops and memos stand around values that may be as deep as `jsonDepthMax` themselves. */
export const bodyDepthMax = jsonDepthMax + 8;
/** Ten of the largest values there may be, or 5,000 events of 200 values each: about a tenth of a second to build. */
export const bodyNodeCountMax = 10 * jsonNodeCountMax;
const reasonCharsMax = 200;

/** Events: numbers that a double cannot hold are kept as they were written (model/long-number.ts). */
export const readEventJson = (body: Uint8Array): unknown => readText(body, bodyNodeCountMax, parseWritten);

/** `nodeCountMax` is another one where it is known who sent it. */
export const readJson = (body: Uint8Array, nodeCountMax = bodyNodeCountMax): unknown =>
  readText(body, nodeCountMax, JSON.parse);

function readText(body: Uint8Array, nodeCountMax: number, parse: (text: string) => unknown): unknown {
  if (body.length === 0) throw errors.BODY_INVALID({ why: "it is empty" });
  if (!isUtf8(body)) throw errors.BODY_INVALID({ why: "it is not UTF-8" });
  const excess = jsonExcess(body, { depthMax: bodyDepthMax, nodeCountMax });
  if (excess === "depth") throw errors.BODY_INVALID({ why: `it is nested deeper than ${bodyDepthMax} levels` });
  if (excess === "nodes") throw errors.BODY_INVALID({ why: `it has more than ${nodeCountMax} values` });
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  try {
    // Windows editors and PowerShell write a byte order mark, which JSON.parse does not take.
    return parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw errors.BODY_INVALID({ why: (error as Error).message.slice(0, reasonCharsMax) });
  }
}
