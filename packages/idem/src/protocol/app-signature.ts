// The app's side of signatures (docs/reference/wire.md#signatures): calls are checked before anything in them is believed, answers
// are signed with the key the call was signed with.
import { createHmac, timingSafeEqual } from "node:crypto";
import { jsonNodeCountMax } from "../model/json.ts";
import { jsonExcess } from "../model/json-size.ts";
import { bodyDepthMax } from "./read-json.ts";
import {
  canonicalBody,
  type SaidSignature,
  SignatureCheck,
  signRequest,
  type Verified,
  verifySignature,
} from "./request-signature.ts";
import { withoutKeyPrefix } from "./signing-key.ts";

// Bytes to be made canonical are parsed before their sender is known. A server's own bytes are signed as they come; only those a proxy or a
// body parser wrote anew need it, and they take less.
const canonicalBytesMax = 8 * 1_024 * 1_024;
const canonicalBounds = { depthMax: bodyDepthMax, nodeCountMax: jsonNodeCountMax };

/** A call whose header was read (`readSignature`): given each piece of its body, it knows at the end who signed it. */
export class CallCheck {
  private readonly direct: SignatureCheck;

  constructor(
    private readonly header: string,
    private readonly said: Extract<SaidSignature, { kind: "said" }>,
    private readonly keys: readonly string[],
    private readonly nowMs: number,
  ) {
    this.direct = new SignatureCheck(said, keys);
  }

  hear(piece: Uint8Array): void {
    this.direct.hear(piece);
  }

  /** Valid when one of the keys signed these bytes, or their canonical form, within the last five minutes. `body` is all that was heard. */
  verdict(body: Uint8Array): Verified {
    const { header, keys, nowMs } = this;
    const direct = this.direct.verdict();
    if (direct.kind === "valid" || body.length === 0) return direct;
    if (body.length > canonicalBytesMax || jsonExcess(body, canonicalBounds) !== null) return direct;
    // The canonical form is signed, whatever a proxy or a body parser made of the bytes on their way.
    let canonical: string;
    try {
      canonical = canonicalBody(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
    } catch {
      return direct;
    }
    const again = verifySignature(header, canonical, keys, nowMs);
    if (again.kind === "valid" || !canonical.includes('"toJSON"')) return again;
    // SDKs write an object with a field of that name in a form of their own; the server signs as they read.
    const at = Number(this.said.t) * 1_000;
    const signer = keys.filter((key) => isSame(header.toLowerCase(), signRequest(canonical, key, at)))[0];
    return signer === undefined ? again : { kind: "valid", key: signer };
  }
}

/** An answer is signed over its bytes as they are. */
export function signAnswer(body: string, key: string, nowMs: number): string {
  const t = String(Math.floor(nowMs / 1_000));
  const s = createHmac("sha256", withoutKeyPrefix(key)).update(body).update(t).digest("hex");
  return `t=${t}&s=${s}`;
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
