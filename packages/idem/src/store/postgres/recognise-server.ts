// Which server answers: PostgreSQL itself, or one that speaks its protocol. What such a server takes of our statements is said from its
// documentation, statement by statement, in docs/postgres-distributed.md; none was ever run.
//
//   recognised by                                  is              then
//   version() begins with CockroachDB              CockroachDB     refused: it does not make our tables
//   version() has -YB-, of PostgreSQL 15 or newer  YugabyteDB      plain statements, where read committed is what it says; else refused
//   the views of its schema sys                    Aurora DSQL     refused: no locks of rows that others wait for
//   the extension citus                            Citus           as PostgreSQL, as long as none of our tables is distributed
//   none of these                                  PostgreSQL

/** What the server says about itself. */
export interface ServerAbout {
  /** `version()`. */
  readonly version: string;
  readonly citus: string | null;
  /** What `begin isolation level read committed` gives on YugabyteDB. */
  readonly ybIsolation: string | null;
  readonly hasDsqlViews: boolean;
}

export interface RecognisedServer {
  readonly kind: "PostgreSQL" | "CockroachDB" | "YugabyteDB" | "Aurora DSQL" | "Citus";
  /** Why nothing could be promised there. */
  readonly refusal: string | null;
  /** What whoever starts a process should know. */
  readonly note: string | null;
  /** LISTEN and NOTIFY, and rows found by their place (ctid). */
  readonly hasHints: boolean;
  /** Else those who migrate take turns on a row. */
  readonly hasTableLocks: boolean;
}

const page = "docs/postgres-distributed.md";
const usual = { refusal: null, note: null, hasHints: true, hasTableLocks: true } as const;
const unread = "From its documentation, never run";
const postgresMin = 14;

export function recogniseServer(about: ServerAbout): RecognisedServer {
  const { version, citus, ybIsolation, hasDsqlViews } = about;
  if (/^CockroachDB\b/.test(version)) {
    const why =
      "CockroachDB does not make the store's tables: it refuses their storage parameters, and changes of tables are not undone with their transaction";
    return { ...usual, kind: "CockroachDB", refusal: `${why} (${page})` };
  }
  const yugabyte = /^PostgreSQL (\d+)\S*-YB-/.exec(version);
  if (yugabyte !== null) {
    const plain = { kind: "YugabyteDB", hasHints: false, hasTableLocks: false } as const;
    if (Number(yugabyte[1]) < postgresMin)
      return { ...usual, ...plain, refusal: `this YugabyteDB is made of PostgreSQL ${yugabyte[1]}, older than 14` };
    if (ybIsolation !== "read committed") {
      const why = `YugabyteDB gives "${ybIsolation ?? "unknown"}" where read committed is asked for, so what is read after a lock may be old`;
      return { ...usual, ...plain, refusal: `${why}; set yb_enable_read_committed_isolation=true (${page})` };
    }
    const note = `this is YugabyteDB: nodes look for each other's work once a second, a migration that is cut short is not undone, and tables want yb_use_hash_splitting_by_default=off. ${unread} (${page})`;
    return { ...usual, ...plain, note };
  }
  if (hasDsqlViews) {
    const why =
      "Aurora DSQL has no read committed and no locks of rows that others wait for, by which the store keeps every promise";
    return { ...usual, kind: "Aurora DSQL", refusal: `${why} (${page})` };
  }
  if (citus !== null) {
    const note = `this server has Citus ${citus}: Idem's tables must stay local ones of the node this address leads to. ${unread} (${page})`;
    return { ...usual, kind: "Citus", note };
  }
  return { ...usual, kind: "PostgreSQL" };
}
