// The key store by itself, as the middleware asks it: a key claimed, and its answer recorded.
import { createHash } from "node:crypto";
import type { KeyAsk, KeyStore } from "./idem.ts";

/** As in the figures it is held against. */
export const keptBody = Buffer.alloc(500, "r");
const headers = [["content-type", "application/json"]] as const;
const hour = 3_600_000;

export async function claimAndComplete(keys: KeyStore, key: string): Promise<void> {
  const claim = asking(key);
  const answer = await keys.claim(claim);
  if (answer.kind !== "fresh") throw new Error(`a fresh key was ${answer.kind}`);
  const holder = { id: claim.id, owner: claim.owner, fence: answer.fence };
  const held = await keys.complete(holder, { kind: "response", status: 201, headers, body: keptBody }, hour);
  if (held !== "held") throw new Error(`a key was ${held}`);
}

export function asking(key: string): KeyAsk {
  const id = createHash("sha256").update(key).digest("hex");
  const hint = id.slice(0, 8);
  const about = { namespace: "bench", tenant: null, principal: "acct_1", method: "POST", path: "/charges", hint };
  const fingerprints = [{ version: 1, value: id }] as const;
  return { id, owner: key, fingerprints, leaseMs: 60_000, windowMs: hour, onCrash: "park", about, work: null };
}
