// Reads for people and tools, over a server: what PostgreSQL asks of its own.
import type { Instant } from "../../model/claim.ts";
import type { LimitUse } from "../flow.ts";
import { readKinds, type StoreReads } from "../reads.ts";
import type { ClaimRow } from "../rows.ts";
import { type Probe, type ReadDatabase, readCalls, type WaitCandidateRow } from "../rules/reads.ts";
import { type Asked, driveAwaited, Sent } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { waitCandidatesOf } from "./hot-reads.ts";
import { limitUses } from "./limit-uses.ts";
import { selectClaims } from "./list-reads.ts";
import { RuleDatabase } from "./rule-database.ts";
import { indexable } from "./text.ts";

const claimSql = `${selectClaims} where c.env = ? and c.scope = ? and c.key = ? and c.asked > 0`;
export const findClaim = (connection: Connection, env: string, scope: string, key: string) =>
  connection.one<ClaimRow>(claimSql, env, scope, indexable(key));

class ServerReads extends RuleDatabase implements ReadDatabase {
  constructor(
    connection: Connection,
    private readonly at: () => Promise<Instant>,
  ) {
    super(connection);
  }

  instant(): Asked<Instant> {
    return new Sent(this.at());
  }

  claim(env: string, scope: string, key: string): Asked<ClaimRow | undefined> {
    return new Sent(findClaim(this.connection, env, scope, key));
  }

  waitCandidates(env: string, eventId: string, probes: readonly Probe[]): Asked<WaitCandidateRow[]> {
    return new Sent(waitCandidatesOf(this.connection, [{ env, eventId, probes }]));
  }

  limitUses(env: string, limit: number): Asked<LimitUse[]> {
    return new Sent(limitUses(this.connection, env, limit));
  }
}

export const readsOver = (connection: Connection, at: () => Promise<Instant>): StoreReads =>
  readCalls(new ServerReads(connection, at), driveAwaited) as unknown as StoreReads;

/** Of the sessions that reads and commits share, those that pages may have at once: the other half is never theirs. */
export const pageSessionsOf = (poolSize: number): number => Math.max(1, Math.floor(poolSize / 2));

/** The same reads, of which so many that look at many rows are with the server at once; the others wait for their turn. */
export function withBoundedPages(reads: StoreReads, max: number): StoreReads {
  const waiting: (() => void)[] = [];
  let atOnce = 0;
  const inTurn = async (read: () => Promise<unknown>): Promise<unknown> => {
    if (atOnce < max) atOnce++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next === undefined) atOnce--;
      else next();
    }
  };
  const bounded: Record<string, unknown> = {};
  for (const name of Object.keys(reads) as (keyof StoreReads)[]) {
    const read = reads[name] as (...input: unknown[]) => Promise<unknown>;
    bounded[name] = readKinds[name] === "page" ? (...input: unknown[]) => inTurn(() => read.apply(reads, input)) : read;
  }
  return bounded as unknown as StoreReads;
}
