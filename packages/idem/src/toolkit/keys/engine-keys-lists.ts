// Records found by what is in them. The engine's store has claims in the order of their keys and no index for this, so they are looked
// through, a page at a time: each page is one short read, and the store's commits go on between two.
import type { Store } from "../../store/store.ts";
import { keyRowOf } from "./engine-keys-claim.ts";
import { type KeyRow, recordOf } from "./key-row.ts";
import type { KeyRecord } from "./key-store.ts";

const pageRows = 200;

/** A completer asks every few seconds: so many claims at a time, and those behind them the next time. */
const examinedMax = 2_000;

interface Page {
  readonly rows: readonly KeyRow[];
  /** Where to continue; null behind the last. */
  readonly next: string | null;
}

async function readPage({ reads }: Store, env: string, scope: string, after: string | null): Promise<Page> {
  const claims = await reads.claims(env, {
    scope,
    limit: pageRows,
    ...(after === null ? {} : { after: { scope, key: after } }),
  });
  const rows = claims
    // Both lists are about keys in flight.
    .filter(({ state }) => state === "in-flight")
    .map((claim) => keyRowOf({ claim, now: 0, windowNow: 0, leaseNow: 0 })!);
  return { rows, next: claims.length < pageRows ? null : claims.at(-1)!.key };
}

/** All of them are looked at, for the oldest may be anywhere. */
export async function findParked(
  store: Store,
  env: string,
  scope: string,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<readonly KeyRecord[]> {
  const last = after === null ? null : keyRowOf(await store.reads.claimNow(env, scope, after));
  let oldest: KeyRow[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const page: Page = await readPage(store, env, scope, next === "" ? null : next);
    const found = page.rows.filter((row) => row.state === "parked" && (last === null || isOlder(last, row)));
    oldest = [...oldest, ...found].sort((a, b) => (isOlder(a, b) ? -1 : 1)).slice(0, limit);
    next = page.next;
  }
  return oldest.map((row) => recordOf(row, 0));
}

const isOlder = (a: KeyRow, b: KeyRow): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);

export class UnfinishedKeys {
  /** Where to go on, by the name of the work: two completers do not skip what is the other's. */
  private readonly places = new Map<string, string | null>();

  constructor(
    private readonly env: string,
    private readonly scope: string,
  ) {}

  /** Ids of work of this name that may be due, those due longest first. Whether they are is for the store's time to say. */
  async candidates(store: Store, work: string): Promise<readonly string[]> {
    const found: KeyRow[] = [];
    let after = this.places.get(work) ?? null;
    for (let examined = 0; examined < examinedMax; examined += pageRows) {
      const page = await readPage(store, this.env, this.scope, after);
      found.push(...page.rows.filter((row) => row.state === "running" && row.work?.name === work));
      after = page.next;
      if (after === null) break;
    }
    this.places.set(work, after);
    return found.sort((a, b) => a.dueAt - b.dueAt).map(({ id }) => id);
  }
}
