// Reads for people and tools, over a server: what PostgreSQL asks of its own.
import type { Instant } from "../../model/claim.ts";
import type { LimitUse } from "../flow.ts";
import type { StoreReads } from "../reads.ts";
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
