// Bytes before their content-coding: two compressions of one body need not be equal, and a replay may go to a client that takes none.
import { encodingNamed, expand } from "../../protocol/content-coding.ts";

/** Each one may blow up what the one before let through. */
const codingCountMax = 2;

/** Null when the coding is not known, the bytes are broken, or more than `bytesMax` come out of any of its codings. */
export async function decodeContent(
  bytes: Uint8Array,
  coding: string | null,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const codings = (coding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  if (codings.length > codingCountMax) return null;
  let decoded = bytes;
  for (const name of codings.reverse()) {
    if (name === "" || name === "identity") continue;
    const encoding = encodingNamed(name);
    if (encoding === undefined) return null;
    try {
      decoded = await expand(decoded, encoding, bytesMax);
    } catch {
      return null;
    }
  }
  return decoded;
}
