// Keys as people look for them: by layer, by a part of the key, those asked for most or ending next. Claims are kept by scope and key,
// so anything else is found by looking through them: a bounded number at a time, for it is a person who waits.
import type { Claim } from "../../model/claim.ts";
import type { ClaimFilter, StoreReads } from "../../store/reads.ts";
import { type KeyLayer, layers } from "./key-layers.ts";
import { examinedMax } from "./paging.ts";

type Within = Pick<ClaimFilter, "scope" | "under">;

export const keyOrders = ["hits", "ends"] as const;
type KeyOrder = (typeof keyOrders)[number];

export interface KeySearch {
  readonly scope: string | undefined;
  readonly layer: KeyLayer | undefined;
  /** Part of the key, in whatever case. */
  readonly part: string | undefined;
  readonly order: KeyOrder | undefined;
  readonly after: ClaimFilter["after"] | undefined;
  readonly limit: number;
}

interface FoundKeys {
  readonly claims: readonly Claim[];
  /** Where to go on; null when there is nothing more. An order is one among those looked at, and so for those that follow. */
  readonly next: ClaimFilter["after"] | null;
  /** There are more than were looked at. */
  readonly isPartial: boolean;
}

const rowsAtOnce = 500;

function withinLayer(layer: KeyLayer): Within {
  const { scope, under } = layers[layer];
  return scope === undefined ? { under: under! } : { scope };
}

export async function findKeys(reads: StoreReads, env: string, search: KeySearch, now: number): Promise<FoundKeys> {
  const { layer, scope, part, order, limit } = search;
  const within: Within = scope !== undefined ? { scope } : layer !== undefined ? withinLayer(layer) : {};
  const wanted = part?.toLowerCase();
  const isPlain = wanted === undefined && order === undefined;
  const found: Claim[] = [];
  let { after } = search;
  for (let examined = 0; examined < examinedMax; examined += rowsAtOnce) {
    const size = isPlain ? limit : rowsAtOnce;
    const rows = await reads.claims(env, { ...within, limit: size, ...(after === undefined ? {} : { after }) });
    for (const claim of rows) {
      after = { scope: claim.scope, key: claim.key };
      if (wanted !== undefined && !claim.key.toLowerCase().includes(wanted)) continue;
      found.push(claim);
      if (order === undefined && found.length === limit) return { claims: found, next: after, isPartial: false };
    }
    if (rows.length < size) return { claims: inOrder(found, order, limit, now), next: null, isPartial: false };
  }
  return { claims: inOrder(found, order, limit, now), next: after ?? null, isPartial: true };
}

function inOrder(claims: Claim[], order: KeyOrder | undefined, limit: number, now: number): readonly Claim[] {
  switch (order) {
    case undefined:
      return claims;
    case "hits":
      // Of those asked for as often, the newest.
      return claims.sort((a, b) => b.asked - a.asked || b.takenAt - a.takenAt).slice(0, limit);
    case "ends":
      // Those that still hold, the nearest end first.
      return claims
        .filter((claim) => claim.state !== "released" && claim.endsAt > now)
        .sort((a, b) => a.endsAt - b.endsAt)
        .slice(0, limit);
  }
}
