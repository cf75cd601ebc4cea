// Reads for people and tools, over a file: what SQLite asks of its own, and how it finds a claim.
import type { Instant } from "../../model/claim.ts";
import type { LimitUse } from "../flow.ts";
import type { StoreReads } from "../reads.ts";
import { type ClaimRow, eventColumns } from "../rows.ts";
import { findEvent } from "../rules/read-memo.ts";
import { type Probe, type ReadDatabase, readCalls, type WaitCandidateRow } from "../rules/reads.ts";
import { type Asked, driveAtOnce, Given } from "../rules/rule.ts";
import { type FindClaimRow, findBesideOwner } from "./claim-index.ts";
import type { Connection } from "./connection.ts";
import { limitUses } from "./limit-uses.ts";
import { claimColumns } from "./list-reads.ts";
import { RuleDatabase } from "./rule-database.ts";

const claimSql = `select ${claimColumns} from claims where n = ?`;
const waitCandidatesSql = `
  select w.run_id, w.step_id, w.rest, ${eventColumns}
    from waits w indexed by waits_by_event
    join runs r on r.env = w.env and r.id = w.run_id
    join events e on e.env = r.env and e.id = r.event_id
   where w.env = ? and w.event_name = ? and w.path = ? and w.value = ? and w.stamp < ?`;

type Sync<T> = { [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never };

class FileReads extends RuleDatabase implements ReadDatabase {
  constructor(
    connection: Connection,
    private readonly at: () => Instant,
    private readonly findClaim: FindClaimRow,
  ) {
    super(connection);
  }

  instant(): Asked<Instant> {
    return new Given(this.at());
  }

  claim(env: string, scope: string, key: string): Asked<ClaimRow | undefined> {
    const n = this.findClaim(env, scope, key);
    return n === undefined ? new Given(undefined) : this.one<ClaimRow>(claimSql, n);
  }

  waitCandidates(env: string, eventId: string, probes: readonly Probe[]): Asked<WaitCandidateRow[]> {
    const event = driveAtOnce(findEvent(this, env, eventId));
    if (event === undefined) return new Given([]);
    const found = probes.flatMap(({ path, value }) =>
      this.connection.all<WaitCandidateRow>(waitCandidatesSql, env, event.name, path, value, event.stamp),
    );
    return new Given(found);
  }

  limitUses(env: string, limit: number): Asked<LimitUse[]> {
    return new Given(limitUses(this.connection, env, limit));
  }
}

export const readsOver = (
  connection: Connection,
  at: () => Instant,
  findClaim: FindClaimRow = findBesideOwner(connection),
): Sync<StoreReads> => readCalls(new FileReads(connection, at, findClaim), driveAtOnce) as Sync<StoreReads>;
