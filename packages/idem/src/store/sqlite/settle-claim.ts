// Claims that are neither events nor runs: HTTP requests, webhooks, sent mails. Claim, do the work, settle with the outcome;
// whoever asks again gets that outcome. The lease says how long a silent holder is believed, the window how long the key is taken.
import { askClaim, type Claim, type ClaimAnswer } from "../../model/claim.ts";
import { isOpen } from "../../model/window.ts";
import type { ClaimInput, ExtendAnswer, ExtendInput, ReleaseAnswer, ReleaseInput, SettleAnswer } from "../claims.ts";
import { countAsking, findClaim, writeClaim } from "./claim-key.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

export function takeClaim(tx: Transaction, input: ClaimInput): ClaimAnswer {
  const { env, scope, key, token } = input;
  const { now } = tx.at;
  const found = findClaim(tx, env, scope, key);
  const existing = found?.claim ?? null;
  const open =
    found !== null &&
    existing !== null &&
    existing.state !== "released" &&
    isOpen(existing, tx.at.windowNow(existing.takenAt));
  if (!open) {
    const { claim } = askClaim(
      existing,
      {
        scope,
        key,
        holder: token,
        generation: token,
        windowMs: input.windowMs,
        held: false,
        fingerprint: input.fingerprint,
        leaseMs: input.leaseMs,
        note: input.note ?? null,
      },
      tx.at,
    );
    writeClaim(tx, env, claim, found);
    return fresh(claim);
  }
  if (existing.holder === token && existing.state === "in-flight") return fresh(existing);
  const mismatch =
    existing.fingerprint !== null && input.fingerprint !== null && existing.fingerprint !== input.fingerprint;
  if (mismatch) {
    countAsking(tx, found);
    return { kind: "mismatch", since: existing.takenAt };
  }
  if (existing.state === "settled") {
    if (existing.holder !== token) countAsking(tx, found);
    return {
      kind: "duplicate",
      outcome: existing.outcome ?? "null",
      endsAt: existing.endsAt,
      generation: existing.generation,
    };
  }
  if (existing.leaseUntil !== null && existing.leaseUntil <= now) {
    const fence = existing.fence + 1;
    writeClaim(
      tx,
      env,
      {
        ...existing,
        holder: token,
        fence,
        leaseUntil: now + input.leaseMs,
        asked: existing.asked + 1,
        lastAskedAt: now,
      },
      found,
    );
    return fresh({ ...existing, fence });
  }
  countAsking(tx, found);
  return { kind: "in-flight", since: existing.takenAt, leaseUntil: existing.leaseUntil };
}

const fresh = ({ fence, endsAt, generation, takenAt: since, outcome: note }: Claim): ClaimAnswer => ({
  kind: "fresh",
  fence,
  endsAt,
  generation,
  since,
  note,
});

export function extendClaim(tx: Transaction, input: ExtendInput): ExtendAnswer {
  const { env, scope, key, fence, leaseMs, note } = input;
  const found = findClaim(tx, env, scope, key);
  if (found === null || found.claim.fence !== fence || found.claim.state !== "in-flight") return "lost";
  writeClaim(tx, env, { ...found.claim, leaseUntil: tx.at.now + leaseMs, outcome: note }, found);
  return "extended";
}

export function settleClaim(
  tx: Transaction,
  env: string,
  scope: string,
  key: string,
  fence: number,
  outcome: string,
): SettleAnswer {
  const found = findClaim(tx, env, scope, key);
  if (found === null) return "lost";
  const { claim } = found;
  if (claim.fence !== fence || claim.state === "released") return "lost";
  if (claim.state === "settled") return "settled";
  writeClaim(tx, env, { ...claim, state: "settled", outcome, leaseUntil: null }, found);
  return "settled";
}

export function releaseClaim(tx: Transaction, input: ReleaseInput): ReleaseAnswer {
  const { env, scope, key, fence } = input;
  const found = findClaim(tx, env, scope, key);
  if (found === null) return "unknown";
  const { claim } = found;
  if (fence !== null && (claim.fence !== fence || claim.state !== "in-flight")) return "lost";
  writeClaim(tx, env, { ...claim, state: "released", held: false }, found);
  if (fence === null) {
    writeAudit(tx, env, {
      action: "release-key",
      subject: `${scope} ${key}`,
      reason: input.reason,
      actor: input.actor,
    });
  }
  return "released";
}
