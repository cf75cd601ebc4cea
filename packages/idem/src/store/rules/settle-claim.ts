// Claims that are neither events nor runs: HTTP requests, webhooks, sent mails. Claim, do the work, settle with the outcome;
// later askers get that outcome. The lease says how long a silent holder is believed, the window how long the key is taken.
import { amendClaim } from "../../model/amend-claim.ts";
import { askClaim, type Claim, type ClaimAnswer, isTaken } from "../../model/claim.ts";
import type {
  AmendAnswer,
  AmendInput,
  ClaimInput,
  ExtendAnswer,
  ExtendInput,
  ReleaseAnswer,
  ReleaseInput,
  SettleAnswer,
} from "../claims.ts";
import type { RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

export function* takeClaim(tx: RuleTransaction, input: ClaimInput): Rule<ClaimAnswer> {
  const { env, scope, key, token } = input;
  const { now } = tx.at;
  const found = yield* tx.findClaim(env, scope, key);
  const existing = found?.claim ?? null;
  const open = found !== null && existing !== null && isTaken(existing, tx.at.windowNow(existing.takenAt));
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
    tx.writeClaim(env, claim, found);
    return fresh(claim);
  }
  if (existing.holder === token && existing.state === "in-flight") return fresh(existing);
  const mismatch =
    existing.fingerprint !== null && input.fingerprint !== null && existing.fingerprint !== input.fingerprint;
  if (mismatch) {
    tx.countAsking(env, found);
    return { kind: "mismatch", since: existing.takenAt };
  }
  if (existing.state === "settled") {
    if (existing.holder !== token) tx.countAsking(env, found);
    return {
      kind: "duplicate",
      outcome: existing.outcome ?? "null",
      endsAt: existing.endsAt,
      generation: existing.generation,
    };
  }
  if (existing.leaseUntil !== null && existing.leaseUntil <= now) {
    const fence = existing.fence + 1;
    tx.writeClaim(
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
  tx.countAsking(env, found);
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

export function* extendClaim(tx: RuleTransaction, input: ExtendInput): Rule<ExtendAnswer> {
  const { env, scope, key, fence, leaseMs, note } = input;
  const found = yield* tx.findClaim(env, scope, key);
  if (found === null || found.claim.fence !== fence || found.claim.state !== "in-flight") return "lost";
  tx.writeClaim(env, { ...found.claim, leaseUntil: tx.at.now + leaseMs, outcome: note }, found);
  return "extended";
}

export function* settleClaim(
  tx: RuleTransaction,
  env: string,
  scope: string,
  key: string,
  fence: number,
  outcome: string,
): Rule<SettleAnswer> {
  const found = yield* tx.findClaim(env, scope, key);
  if (found === null) return "lost";
  const { claim } = found;
  if (claim.fence !== fence || claim.state === "released") return "lost";
  if (claim.state === "settled") return "settled";
  tx.writeClaim(env, { ...claim, state: "settled", outcome, leaseUntil: null }, found);
  return "settled";
}

export function* releaseClaim(tx: RuleTransaction, input: ReleaseInput): Rule<ReleaseAnswer> {
  const { env, scope, key, fence, reason, actor } = input;
  const found = yield* tx.findClaim(env, scope, key);
  if (found === null) return "unknown";
  const { claim } = found;
  if (fence !== null && (claim.fence !== fence || claim.state !== "in-flight")) return "lost";
  tx.writeClaim(env, { ...claim, state: "released", held: false }, found);
  if (fence === null) tx.audit(env, { action: "release-key", subject: `${scope} ${key}`, reason, actor });
  return "released";
}

/** Writes a claim over the one a decision was made upon (model/amend-claim.ts). */
export function* amendClaimRow(tx: RuleTransaction, input: AmendInput): Rule<AmendAnswer> {
  const { env, scope, key, reason, actor } = input;
  const found = yield* tx.findClaim(env, scope, key);
  const amended = amendClaim(found?.claim ?? null, input, tx.at);
  if (amended.kind !== "amended") return amended.kind === "already" ? "amended" : "moved";
  if (amended.claim !== null) tx.writeClaim(env, amended.claim, found);
  else if (found !== null) tx.deleteClaim(env, found);
  if (reason !== null) tx.audit(env, { action: "resolve-key", subject: `${scope} ${key}`, reason, actor });
  return "amended";
}
