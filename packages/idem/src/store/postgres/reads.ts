// Reads for people and tools, over a server: what PostgreSQL asks of its own.
import type { Instant } from "../../model/claim.ts";
import type { LimitUse } from "../flow.ts";
import type { StoreReads } from "../reads.ts";
import { type ClaimRow, eventColumns } from "../rows.ts";
import { type Probe, type ReadDatabase, readCalls, type WaitCandidateRow } from "../rules/reads.ts";
import { type Asked, driveAwaited, Sent } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { limitUses } from "./limit-uses.ts";
import { selectClaims } from "./list-reads.ts";
import { RuleDatabase } from "./rule-database.ts";
import { indexable } from "./text.ts";

const claimSql = `${selectClaims} where c.env = ? and c.scope = ? and c.key = ? and c.asked > 0`;
// "offset 0" has the waits of each probe looked up by all that is known of them, also before the table has statistics.
const waitCandidatesSql = `
  select w.run_id, w.step_id, w.rest, ${eventColumns}
    from events received
   cross join unnest(cast(:paths as text[]), cast(:values as text[])) as probe (path, value)
   cross join lateral (select run_id, step_id, rest, stamp from waits
                        where env = received.env and event_name = received.name and path = probe.path
                          and value = probe.value and stamp < received.stamp offset 0) w
   cross join lateral (select event_id from runs where env = received.env and id = w.run_id limit 1) r
   cross join lateral (select * from events where env = received.env and id = r.event_id limit 1) e
   where received.env = :env and received.id = :event
   order by w.stamp`;

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
    const paths = this.list(probes.map(({ path }) => path));
    const values = this.list(probes.map(({ value }) => this.indexed(value)));
    return this.find<WaitCandidateRow>(waitCandidatesSql, { env, event: eventId, paths, values });
  }

  limitUses(env: string, limit: number): Asked<LimitUse[]> {
    return new Sent(limitUses(this.connection, env, limit));
  }
}

export const readsOver = (connection: Connection, at: () => Promise<Instant>): StoreReads =>
  readCalls(new ServerReads(connection, at), driveAwaited) as unknown as StoreReads;
