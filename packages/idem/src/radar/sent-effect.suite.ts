// An effect as a step leaves it behind: a claim in the scope of destination and entity, settled with what came of it.
import { effectScope, outcomeText } from "../model/effect.ts";
import type { Store } from "../store/store.ts";

export async function sendEffect(store: Store, entity: string, key: string, at: number): Promise<void> {
  const env = "default";
  const scope = effectScope("stripe", entity);
  const claim = { env, scope, key, token: key, fingerprint: null, leaseMs: 1_000, windowMs: 86_400_000 };
  const answer = await store.claim(claim);
  if (answer.kind !== "fresh") throw new Error(answer.kind);
  const what = { runId: `run-${key}`, step: "draft", receipt: null, value: null } as const;
  await store.settle(env, scope, key, answer.fence, outcomeText({ ...what, by: "answer", at, tries: 1 }));
}
