// The depth of a JSON text and the number of its values, found from its bytes before anything is made of it: JSON.parse recurses, and a
// value of a few bytes takes a hundred times as many once it is built.

export interface JsonBounds {
  readonly depthMax: number;
  readonly nodeCountMax: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** Null for what is within both, or is no JSON, which parsing will say. */
export function jsonExcess(bytes: Uint8Array, { depthMax, nodeCountMax }: JsonBounds): "depth" | "nodes" | null {
  if (bytes.length <= depthMax && bytes.length <= nodeCountMax) return null;
  let depth = 0;
  // A value stands at the beginning, behind each opening bracket and behind each comma; an empty list or object counts as two.
  let nodeCount = 1;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma) {
      if (++nodeCount > nodeCountMax) return "nodes";
    }
    // [ and { differ from ] and } by 2, and each pair by 0x20.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > depthMax) return "depth";
      if (++nodeCount > nodeCountMax) return "nodes";
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  return null;
}
