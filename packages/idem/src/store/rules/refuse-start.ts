// Refuses a start for other reasons than its key: a rate limit, then one at a time. A run that is let in has taken its place in both.

import { rateLimited } from "../../flow/rate-limit/plan.ts";
import { type SingletonRule, singletonAsk, singletonScope, singletonTaken } from "../../flow/singleton/plan.ts";
import { askFor } from "../../model/claim.ts";
import type { Decision } from "../../model/decision.ts";
import type { StartPair } from "../ingest.ts";
import type { Writing } from "../writing.ts";
import { cancelHolder } from "./cancel-holder.ts";
import type { RuleTransaction } from "./database.ts";
import { countStart, frees } from "./limit-starts.ts";
import type { Rule } from "./rule.ts";

type Refusal = Pick<Decision, "kind" | "reason" | "runId">;

export function* refuseStart(
  tx: RuleTransaction,
  env: string,
  { fn, runId, flow }: StartPair,
  out: Writing,
): Rule<Refusal | null> {
  if (flow === null) return null;
  const { rateLimit, singleton } = flow;
  if (rateLimit !== null) {
    const freesAt = yield* frees(tx, env, rateLimit);
    if (freesAt !== null) return { kind: "rate-limited", reason: rateLimited(rateLimit, freesAt), runId: null };
  }
  if (singleton !== null) {
    const holder = yield* takeSingleton(tx, env, { fn, runId, rule: singleton }, out);
    if (holder !== null) return { kind: "singleton-skipped", reason: singletonTaken(holder), runId: holder };
  }
  if (rateLimit !== null) yield* countStart(tx, env, rateLimit, runId);
  return null;
}

/** Null when the run has the key now; else the run that keeps it. */
function* takeSingleton(
  tx: RuleTransaction,
  env: string,
  { fn, runId, rule }: { readonly fn: string; readonly runId: string; readonly rule: SingletonRule },
  out: Writing,
): Rule<string | null> {
  const scope = singletonScope(fn);
  const ask = singletonAsk(fn, rule.key, runId);
  let found = yield* tx.findClaim(env, scope, rule.key);
  let asked = askFor(tx.at, found?.claim ?? null, ask);
  if (!asked.taken) {
    if (rule.mode === "skip") {
      tx.countAsking(env, found!);
      return asked.claim.holder;
    }
    yield* cancelHolder(tx, env, asked.claim.holder, rule, out);
    found = yield* tx.findClaim(env, scope, rule.key);
    asked = askFor(tx.at, found?.claim ?? null, ask);
  }
  tx.writeClaim(env, asked.claim, found);
  return null;
}
