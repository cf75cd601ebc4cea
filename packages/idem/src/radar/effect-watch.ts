// Rules about effects: "more than N effects for one entity within T". Claims stand in the order of their scopes, in which an entity's effects are
// neighbours; so they are walked through a page at a look, round and round. Older ones than an hour are doctor's and people's.
import { type Effect, effectOf, effectScopes } from "../model/effect.ts";
import type { StoreReads } from "../store/reads.ts";
import { push } from "./candidates.ts";
import type { FoundAlert } from "./found-alert.ts";
import { shorten } from "./rule-watch.ts";
import type { RadarRule } from "./rules.ts";

// A few milliseconds of reading, as a page of arrivals.
const pageMax = 500;
const freshMs = 60 * 60 * 1_000;
// Of an entity with more only the newest count.
const groupMax = 1_001;
const toldMax = 10_000;
const closedMax = 100;

export class EffectWatch {
  private after: { readonly scope: string; readonly key: string } | undefined;
  /** Of the entity the walk is at. */
  private group: Effect[] = [];
  private readonly told = new Set<string>();

  /** One page; nothing is read where no rule asks for it. */
  async look(
    reads: Pick<StoreReads, "claims">,
    env: string,
    rules: readonly RadarRule[],
    now: number,
  ): Promise<FoundAlert[]> {
    const asking = rules.filter(({ what, isMuted }) => what === "effects" && !isMuted);
    if (asking.length === 0) return [];
    const { after } = this;
    const page = { under: effectScopes, limit: pageMax, ...(after === undefined ? {} : { after }) };
    const claims = await reads.claims(env, page);
    const found: FoundAlert[] = [];
    for (const claim of claims) {
      const effect = effectOf(claim, now);
      if (effect === null) continue;
      const [last] = this.group;
      const isOther = last !== undefined && (last.destination !== effect.destination || last.entity !== effect.entity);
      if (isOther) found.push(...this.close(asking, now));
      this.group.push(effect);
      if (this.group.length > groupMax) this.group.shift();
    }
    const last = claims.at(-1);
    this.after = last === undefined || claims.length < pageMax ? undefined : { scope: last.scope, key: last.key };
    if (this.after === undefined) found.push(...this.close(asking, now));
    return found;
  }

  private close(rules: readonly RadarRule[], now: number): FoundAlert[] {
    const effects = this.group;
    this.group = [];
    return rules.flatMap((rule) =>
      tooMany(effects, rule).flatMap(({ first, later }): FoundAlert[] => {
        const place = `${rule.name} ${later.id}`;
        if (later.firstTriedAt < now - freshMs || this.told.has(place)) return [];
        this.told.add(place);
        if (this.told.size > toldMax) this.told.delete(this.told.values().next().value!);
        const entity = shorten(JSON.stringify(`${later.destination}: ${later.entity}`));
        return [
          {
            kind: "rule",
            fn: "",
            about: `rule:${rule.name}`,
            subject: rule.of,
            facts: { of: "run", what: "effects", rule: rule.name, more: rule.more, withinMs: rule.withinMs },
            pairs: [{ entity, firstId: first.runId, laterId: later.runId, at: later.firstTriedAt }],
          },
        ];
      }),
    );
  }
}

/** Of the effects of one entity: each that came too soon after others, with the one it is counted from. */
function tooMany(effects: readonly Effect[], { more, withinMs }: RadarRule) {
  const inOrder = effects.toSorted((a, b) => a.firstTriedAt - b.firstTriedAt || (a.id < b.id ? -1 : 1));
  return inOrder.flatMap((later, i) => {
    const first = inOrder[i - more];
    return first === undefined || later.firstTriedAt - first.firstTriedAt > withinMs ? [] : [{ first, later }];
  });
}

/** Counts the alerts that a rule about effects would have raised since then, by at most so many pages of them. */
export async function countDoubledEffects(
  reads: Pick<StoreReads, "claims">,
  env: string,
  rule: RadarRule,
  { since, now, pagesMax }: { readonly since: number; readonly now: number; readonly pagesMax: number },
): Promise<{ readonly count: number; readonly looked: number; readonly isAll: boolean }> {
  const byEntity = new Map<string, Effect[]>();
  let after: { readonly scope: string; readonly key: string } | undefined;
  let looked = 0;
  let isAll = false;
  for (let page = 0; page < pagesMax && !isAll; page++) {
    const filter = { under: effectScopes, limit: pageMax, ...(after === undefined ? {} : { after }) };
    const claims = await reads.claims(env, filter);
    for (const claim of claims) {
      const effect = effectOf(claim, now);
      if (effect === null) continue;
      looked += 1;
      push(byEntity, claim.scope, effect);
    }
    const last = claims.at(-1);
    isAll = last === undefined || claims.length < pageMax;
    if (last !== undefined) after = { scope: last.scope, key: last.key };
  }
  const found = [...byEntity.values()].flatMap((effects) => tooMany(effects, rule));
  return { count: found.filter(({ later }) => later.firstTriedAt >= since).length, looked, isAll };
}

/** The walk has no position that is kept: without this, the next process would alert again about closed ones. */
export async function withoutClosed(
  reads: Pick<StoreReads, "alerts">,
  env: string,
  found: readonly FoundAlert[],
): Promise<FoundAlert[]> {
  if (found.length === 0) return [];
  const closed = await reads.alerts(env, { state: "closed", limit: closedMax });
  return found.filter(({ kind, about, pairs }) => {
    const ends = closed
      .filter((alert) => alert.kind === kind && alert.about === about)
      .map(({ judgedAt }) => judgedAt ?? 0);
    return pairs.some(({ at }) => at > Math.max(0, ...ends));
  });
}
