// The alert of a store that lost acknowledged writes, in words: the same in the doctor, on the command line, in channels and on its page.
import { type Alert, type AlertPair, pairsKeptMax } from "../store/alerts.ts";
import { isBound, rollbackKind } from "../store/history.ts";
import type { StoreReads } from "../store/reads.ts";
import { type Finding, times } from "./finding.ts";

const idsShown = 20;

export const rollbackNext = (id: string | undefined): string =>
  `Find what was lost and let its senders repeat it (docs/operations.md#lost-commits), then acknowledge the alert: idem radar ${id ?? "<alert>"} --acknowledge --reason "…", or on its page in the dashboard`;

// As many as a server gives out at once.
const pageMax = 1_000;

export async function rollbackPairs(
  reads: Pick<StoreReads, "alertPairs">,
  env: string,
  id: string,
): Promise<readonly AlertPair[]> {
  const pairs: AlertPair[] = [];
  while (pairs.length < pairsKeptMax) {
    const before = pairs.at(-1)?.laterId;
    const page = await reads.alertPairs(env, id, { limit: pageMax, ...(before === undefined ? {} : { before }) });
    pairs.push(...page);
    if (page.length < pageMax) break;
  }
  return pairs;
}

/** What is known of it: the writes that are missing, and who found it. */
export function rollbackDetails(pairs: readonly AlertPair[]): string[] {
  const missing = pairs.filter((pair) => !isBound(pair)).sort((a, b) => a.at - b.at);
  const finders = new Set(pairs.filter(isBound).map(({ entity }) => JSON.parse(entity) as string));
  const isRunEnd = ({ entity }: AlertPair) => entity === '"run end"';
  const runEnds = missing.filter(isRunEnd).length;
  const ids = missing.slice(0, idsShown).map((pair) => `${isRunEnd(pair) ? "run end" : "event"} ${pair.laterId}`);
  const more = missing.length > idsShown ? `, and ${missing.length - idsShown} more` : "";
  const known =
    missing.length === 0
      ? "no single write is known to be missing: senders and destinations may know of some"
      : `${times(missing.length - runEnds, "event")} and ${times(runEnds, "run end")} are known to be missing: ${ids.join(", ")}${more}`;
  const found = [...finders].filter((name) => name !== "").sort();
  return found.length === 0 ? [known] : [known, `found by ${found.join(", ")}`];
}

/** Stays until an operator acknowledges or closes the alert; to mute it is to ask for silence elsewhere. */
export function rollbackFinding(
  alert: Alert,
  pairs: readonly AlertPair[],
  { title, next }: { readonly title: string; readonly next: string },
): Finding {
  const missing = pairs.filter((pair) => !isBound(pair)).map(({ laterId }) => laterId);
  return {
    kind: rollbackKind,
    level: "problem",
    title,
    details: rollbackDetails(pairs),
    next,
    facts: { alertId: alert.id, from: alert.firstAt, to: alert.lastAt, missing },
  };
}
