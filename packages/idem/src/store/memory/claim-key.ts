// Claim, settle, release: Idem's one primitive for keys of any scope. Asking again with the same token is the same asking.
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
import type { Moment, Tables } from "./tables.ts";

export function claimKey(tables: Tables, at: Moment, input: ClaimInput): ClaimAnswer {
  const existing = tables.claim(input.scope, input.key);
  if (existing !== null && existing.holder === input.token && isTaken(existing, at.windowNow(existing.takenAt))) {
    return existing.state === "in-flight" ? fresh(existing) : duplicate(existing);
  }
  const asked = askClaim(
    existing,
    {
      scope: input.scope,
      key: input.key,
      holder: input.token,
      generation: input.token,
      windowMs: input.windowMs,
      held: false,
      fingerprint: input.fingerprint,
      leaseMs: input.leaseMs,
      note: input.note ?? null,
    },
    at,
  );
  tables.putClaim(asked.claim);
  return asked.taken ? fresh(asked.claim) : answerTaken(tables, at, input, asked.claim);
}

function answerTaken(tables: Tables, at: Moment, input: ClaimInput, claim: Claim): ClaimAnswer {
  if (isMismatch(claim.fingerprint, input.fingerprint)) return { kind: "mismatch", since: claim.takenAt };
  if (claim.state === "settled") return duplicate(claim);
  if (claim.leaseUntil === null || at.now < claim.leaseUntil) {
    return { kind: "in-flight", since: claim.takenAt, leaseUntil: claim.leaseUntil };
  }
  // The holder went silent. The window stays the same one: what it did may have happened.
  const takenOver: Claim = {
    ...claim,
    holder: input.token,
    fence: claim.fence + 1,
    leaseUntil: at.now + input.leaseMs,
  };
  tables.putClaim(takenOver);
  return fresh(takenOver);
}

const isMismatch = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one !== other;

const fresh = ({ fence, endsAt, generation, takenAt: since, outcome: note }: Claim): ClaimAnswer => ({
  kind: "fresh",
  fence,
  endsAt,
  generation,
  since,
  note,
});

const duplicate = ({ outcome, endsAt, generation }: Claim): ClaimAnswer => ({
  kind: "duplicate",
  outcome: outcome ?? "null",
  endsAt,
  generation,
});

export function extendKey(tables: Tables, at: Moment, input: ExtendInput): ExtendAnswer {
  const { scope, key, fence, leaseMs, note } = input;
  const claim = tables.claim(scope, key);
  if (claim === null || claim.fence !== fence || claim.state !== "in-flight") return "lost";
  tables.putClaim({ ...claim, leaseUntil: at.now + leaseMs, outcome: note });
  return "extended";
}

export function amendKey(tables: Tables, at: Moment, input: AmendInput): AmendAnswer {
  const { scope, key, reason, actor } = input;
  const found = tables.claim(scope, key);
  const amended = amendClaim(found, input, at);
  if (amended.kind !== "amended") return amended.kind === "already" ? "amended" : "moved";
  if (amended.claim !== null) tables.putClaim(amended.claim);
  else if (found !== null) tables.deleteClaim(found);
  if (reason !== null) tables.addAudit(at, { action: "resolve-key", subject: `${scope} ${key}`, reason, actor });
  return "amended";
}

export function settleKey(tables: Tables, scope: string, key: string, fence: number, outcome: string): SettleAnswer {
  const claim = tables.claim(scope, key);
  if (claim === null || claim.fence !== fence || claim.state === "released") return "lost";
  if (claim.state === "in-flight") tables.putClaim({ ...claim, state: "settled", outcome, leaseUntil: null });
  return "settled";
}

export function releaseKey(tables: Tables, at: Moment, input: ReleaseInput): ReleaseAnswer {
  const { scope, key, fence, reason, actor } = input;
  const claim = tables.claim(scope, key);
  if (claim === null) return "unknown";
  if (fence !== null && (claim.fence !== fence || claim.state !== "in-flight")) return "lost";
  if (claim.state === "released") return "released";
  tables.putClaim({ ...claim, state: "released", held: false });
  if (fence === null) tables.addAudit(at, { action: "release-key", subject: `${scope} ${key}`, reason, actor });
  return "released";
}
