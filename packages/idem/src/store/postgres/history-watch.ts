// Whether the server still has what it acknowledged (store/history.ts has the cases), and whether commits still wait for a standby. Nothing here
// makes a round trip of its own but for the rare moment in which something is wrong: the counter moves with the heartbeat that is sent anyway,
// and the server is looked at by the statement that begins each transaction.
import type { Platform } from "../../platform/platform.ts";
import {
  type AcknowledgedWrites,
  type HeartbeatCount,
  type HistoryReport,
  judgeHeartbeat,
  type StoreHistory,
  type StoreRollback,
} from "../history.ts";
import type { HeartbeatAnswer } from "../leases.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

// ------------------------------------------------------------------------------------------------ the counter of heartbeats

/** The row that a heartbeat moves. `counter` is the one that was acknowledged last; 0 before the first. */
export interface HeartbeatRow {
  readonly id: string;
  readonly counter: number;
}

/** The row moved to this counter, or it did not move because the store has less than was acknowledged. */
type MovedHeartbeat =
  | { readonly kind: "moved"; readonly counter: number }
  | { readonly kind: "unmoved"; readonly found: HeartbeatCount | null; readonly server: string };

export type CountedHeartbeat = HeartbeatAnswer & { readonly moved: MovedHeartbeat | null };

const createSql = `
  insert into heartbeats (id, counter, at) values (?, 1, ?)
  on conflict (id) do update set counter = heartbeats.counter + 1, at = excluded.at
  returning counter`;
const moveSql = "update heartbeats set counter = counter + 1, at = ? where id = ? and counter >= ? returning counter";
/** The instant at which the server was started identifies it, and is the same for all sessions with it. */
export const serverStartedSql = "(extract(epoch from pg_postmaster_start_time()) * 1000)::bigint";
const findSql = `
  select h.counter, h.at, ${serverStartedSql} as server
    from (select cast(? as text) as id) as own left join heartbeats h on h.id = own.id`;

export async function moveHeartbeat({ connection, at }: Transaction, row: HeartbeatRow): Promise<MovedHeartbeat> {
  const moved =
    row.counter === 0
      ? await connection.one<{ counter: number }>(createSql, row.id, at.now)
      : await connection.one<{ counter: number }>(moveSql, at.now, row.id, row.counter);
  if (moved !== undefined) return { kind: "moved", counter: moved.counter };
  const found = (await connection.one<{ counter: number | null; at: number | null; server: number }>(findSql, row.id))!;
  const { counter, at: foundAt } = found;
  return {
    kind: "unmoved",
    found: counter === null || foundAt === null ? null : { counter, at: foundAt },
    server: serverName(found.server),
  };
}

const serverName = (startedAt: number): string => `server started ${new Date(startedAt).toISOString()}`;

/** The heartbeats of one thread: what it was acknowledged for, and whether the store still knows. */
export class HeartbeatWatch {
  private id: string;
  private first: HeartbeatCount | null = null;
  private acknowledged: HeartbeatCount | null = null;

  constructor(
    private readonly newId: () => string,
    private readonly onRollback: (rollback: StoreRollback) => void,
  ) {
    this.id = newId();
  }

  /** `send` commits a heartbeat that moves the row it is given. */
  async count(send: (row: HeartbeatRow) => Promise<CountedHeartbeat>): Promise<HeartbeatAnswer> {
    // As it is before the request: an answer that comes meanwhile may be of a later heartbeat than the one this finds.
    const row = { id: this.id, counter: this.acknowledged?.counter ?? 0 };
    const { moved, ...answer } = await send(row);
    // Of a row that was given up since, nothing is learned.
    if (moved !== null && row.id === this.id) this.take(moved, answer.now);
    return answer;
  }

  private take(moved: MovedHeartbeat, now: number): void {
    const { acknowledged, first } = this;
    if (moved.kind === "moved") {
      const { counter } = moved;
      this.first ??= { counter, at: now };
      if (acknowledged === null || counter > acknowledged.counter) this.acknowledged = { counter, at: now };
      return;
    }
    const { found, server } = moved;
    const verdict = judgeHeartbeat(acknowledged, found, now);
    if (verdict === "kept") return;
    const proof = this.id;
    this.id = this.newId();
    this.first = null;
    this.acknowledged = null;
    if (verdict === "unknown") return;
    this.onRollback({
      server,
      proof,
      survivedAt: found?.at ?? null,
      firstAt: first!.at,
      acknowledgedAt: acknowledged!.at,
      foundAt: now,
    });
  }
}

const deleteOldSql = `
  delete from heartbeats where ctid = any(array(
    select ctid from heartbeats where at < ? order by at limit ? for update skip locked))`;

/** Rows of processes that are gone. */
export function deleteOldHeartbeats({ connection }: Transaction, before: number, max: number): void {
  connection.write(deleteOldSql, before, max);
}

// ------------------------------------------------------------------------------------------------ the server

/** What the beginning of a transaction says about the server it is on. */
export interface ServerReading {
  /** When it was started. */
  readonly server: number;
  /** Whether commits wait for a standby. */
  readonly isFollowed: boolean;
}

// A changed setting reaches each session by itself: until all have heard of it, they contradict each other.
const settledMs = 2_000;

const droppedName = "standbys-dropped";
const noteDroppedSql = `
  insert into meta (name, value) values ('${droppedName}', ?) on conflict (name) do update set value = excluded.value`;
const forgetDroppedSql = `delete from meta where name = '${droppedName}'`;
/** When a running node saw that commits no longer wait for a standby; null while they do, and where none ever did. */
export const standbysDroppedSql = `(select cast(value as bigint) from meta where name = '${droppedName}')`;

const missingEventsSql = `
  select known.id from unnest(cast(:ids as text[])) as known (id)
   where not exists (select 1 from events e where e.env = :env and e.id = known.id)`;
const missingEndsSql = `
  select known.id from unnest(cast(:ids as text[])) as known (id)
   where not exists (select 1 from runs r where r.env = :env and r.id = known.id and r.ended_state is not null)`;

export interface PostgresHistoryOptions {
  readonly platform: Pick<Platform, "monoMs">;
  readonly connection: Connection;
  readonly untilKnown: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Commits what the body writes. */
  readonly write: (body: (tx: Transaction) => Promise<void>) => Promise<void>;
}

export class PostgresHistory implements StoreHistory {
  private readonly listeners = new Set<(report: HistoryReport) => void>();
  private server: number | null = null;
  private isFollowed: boolean | null = null;
  /** Since when sessions say the opposite of what is known. */
  private contradictedMono: number | null = null;

  constructor(private readonly options: PostgresHistoryOptions) {}

  subscribe(listener: (report: HistoryReport) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  readonly report = (report: HistoryReport): void => {
    for (const listener of [...this.listeners]) listener(report);
  };

  /** On the path of every transaction. */
  readonly see = ({ server, isFollowed }: ServerReading): void => {
    if (this.server !== server) this.seeServer(server);
    if (this.isFollowed !== isFollowed) this.seeFollowed(isFollowed);
    else this.contradictedMono = null;
  };

  private seeServer(server: number): void {
    const isFirst = this.server === null;
    this.server = server;
    if (!isFirst) this.report({ kind: "server-changed", server: serverName(server) });
  }

  private seeFollowed(isFollowed: boolean): void {
    if (this.isFollowed === null) {
      this.isFollowed = isFollowed;
      return;
    }
    const mono = this.options.platform.monoMs();
    this.contradictedMono ??= mono;
    if (mono - this.contradictedMono < settledMs) return;
    this.isFollowed = isFollowed;
    this.contradictedMono = null;
    this.report({ kind: "notice", ...(isFollowed ? followedNotice : droppedNotice) });
    // For the doctor, which reads it later. If it cannot be written now, the log still has it.
    const note = async ({ connection, at }: Transaction) => {
      if (isFollowed) connection.write(forgetDroppedSql);
      else connection.write(noteDroppedSql, String(at.now));
    };
    this.options.write(note).catch(() => {});
  }

  async missing(env: string, { events, runs }: AcknowledgedWrites): Promise<AcknowledgedWrites> {
    const { connection, untilKnown } = this.options;
    const find = async (sql: string, ids: readonly string[]): Promise<string[]> => {
      if (ids.length === 0) return [];
      const rows = await untilKnown(() => connection.find<{ id: string }>(sql, { env, ids }));
      return rows.map(({ id }) => id);
    };
    return { events: await find(missingEventsSql, events), runs: await find(missingEndsSql, runs) };
  }
}

const droppedNotice = {
  level: "warn",
  text: "idem: synchronous_standby_names is empty now: commits no longer wait for a standby, and a failover would lose what is acknowledged from here on. Set it again, unless that is meant (docs/postgres.md#failover)",
} as const;

const followedNotice = {
  level: "info",
  text: "idem: synchronous_standby_names is set now: commits wait for a standby",
} as const;
