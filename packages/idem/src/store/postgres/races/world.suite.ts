// Several nodes of one real server for each test: stores of their own, with sessions of their own, over one schema. What a node sends can
// be recorded, held back or lost; what it waits for is made by a session of nobody's, which locks rows or ends other sessions.
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { ManualClock } from "../../../platform/manual-clock.ts";
import { ManualPlatform } from "../../../platform/manual-platform.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import { withRealTimers } from "../../../testing/real-timers.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../../../testing/shared-postgres.suite.ts";
import { World } from "../../contract/world.ts";
import { openPostgresStore } from "../postgres-store.ts";
import type { Pg } from "../sessions.ts";
import { quoted, tableNames } from "../statement.ts";

/** What becomes of a statement: sent as it is, never sent, or done by the server while nobody hears of it. */
export type Fate = "sent" | "cut" | "lost";

type Watch = (sql: string) => Fate | Promise<Fate>;

/** What a node says to the server, and how it is interfered with. */
export class Wire {
  /** Codes of all errors the server answered with. */
  readonly errors: string[] = [];
  /** Every statement as it was sent last. */
  readonly sent = new Map<string, readonly unknown[]>();
  /** How often each statement was sent. */
  readonly counts = new Map<string, number>();
  private watch: Watch | null = null;

  /** The next statement that is meant meets its fate; resolves once it has. */
  next(meant: RegExp, fate: Exclude<Fate, "sent">): Promise<void> {
    return new Promise((met) => {
      this.watch = (sql) => {
        if (!meant.test(sql)) return "sent";
        this.watch = null;
        met();
        return fate;
      };
    });
  }

  /** Holds back the next statement that is meant. */
  hold(meant: RegExp): { readonly reached: Promise<void>; release(): void } {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reached = new Promise<void>((reach) => {
      this.watch = (sql) => {
        if (!meant.test(sql)) return "sent";
        this.watch = null;
        reach();
        return released.then(() => "sent" as const);
      };
    });
    return { reached, release };
  }

  /** Holds back the n-th statement from now on, of those that are meant; `isReached` tells whether there were so many. */
  holdNth(n: number, isMeant: (sql: string) => boolean) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let left = n;
    const held = { isReached: false, reached: Promise.resolve(), release: () => release() };
    held.reached = new Promise<void>((reach) => {
      this.watch = (sql) => {
        if (!isMeant(sql) || left-- > 0) return "sent";
        this.watch = null;
        held.isReached = true;
        reach();
        return released.then(() => "sent" as const);
      };
    });
    return held;
  }

  fateOf(sql: string, params: readonly unknown[]): Fate | Promise<Fate> {
    this.sent.set(sql, params);
    this.counts.set(sql, (this.counts.get(sql) ?? 0) + 1);
    return this.watch?.(sql) ?? "sent";
  }
}

/** The driver, with a wire between. */
function wired(wire: Wire): Pg {
  class Session extends pg.Client {
    // Statements keep their order, also behind one that is held back.
    private behind: Promise<unknown> | null = null;

    override query(...args: any[]): any {
      const [asked, ...rest] = args;
      const answered = rest.find((arg) => typeof arg === "function") as
        | ((error: unknown, result: unknown) => void)
        | undefined;
      const params = rest.filter((arg) => typeof arg !== "function");
      const sql: string = typeof asked === "string" ? asked : asked.text;
      const values: readonly unknown[] = asked.values ?? params[0] ?? [];
      const before = this.behind;
      const fate = before === null ? wire.fateOf(sql, values) : before.then(() => wire.fateOf(sql, values));
      const answer = typeof fate === "string" ? this.meet(fate, asked, params) : this.later(fate, asked, params);
      answer.catch((error: { code?: string }) => wire.errors.push(error.code ?? "none"));
      if (answered === undefined) return answer;
      answer.then(
        (result) => answered(null, result),
        (error) => answered(error, undefined),
      );
    }

    private later(fate: Promise<Fate>, asked: any, params: unknown[]): Promise<any> {
      return new Promise((resolve, reject) => {
        const sent = fate.then((known) => {
          this.meet(known, asked, params).then(resolve, reject);
        });
        this.behind = sent;
        void sent.then(() => {
          if (this.behind === sent) this.behind = null;
        });
      });
    }

    private async meet(fate: Fate, asked: any, params: unknown[]): Promise<any> {
      const ask = () => super.query(asked, ...(params as [])) as unknown as Promise<unknown>;
      if (fate === "sent") return ask();
      if (fate === "lost") await ask();
      (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      throw Object.assign(new Error("the test cut the session"), { code: "ECONNRESET" });
    }
  }
  return { Pool: pg.Pool, Client: Session as unknown as Pg["Client"], types: pg.types };
}

export interface Node {
  readonly world: World;
  readonly wire: Wire;
  /** By which the server lists its sessions. */
  readonly applicationName: string;
  close(): Promise<void>;
}

export interface Cluster {
  readonly schema: string;
  /** Moves only by hand, for all nodes; the server's own clock is used where the test did not ask for it. */
  readonly clock: ManualClock;
  readonly nodes: readonly [Node, Node, ...Node[]];
  /** Rows of a statement over bare table names with a dot before them: `.jobs`. */
  rows<Row extends object = any>(sql: string, ...params: unknown[]): Promise<Row[]>;
  /** A session of nobody's, with a transaction open. */
  begin(): Promise<Outsider>;
  /** Resolves once so many sessions of nodes wait for a lock, or what should wait there did not. */
  untilWaiting(count: number, unless?: Promise<unknown>): Promise<void>;
  /** Ends the nodes' sessions and says how many deadlocks the server has found since the cluster was opened. */
  countDeadlocks(): Promise<number>;
}

export interface Outsider {
  query(sql: string, ...params: unknown[]): Promise<any[]>;
  end(how?: "commit" | "rollback"): Promise<void>;
}

export interface ClusterOptions {
  readonly nodes?: number;
  /** "manual": the nodes' time moves only by hand; "server": the database's clock. */
  readonly clock?: "manual" | "server";
  readonly pool?: number;
}

export function useServer() {
  let server: PostgresDatabase;
  let admin: pg.Client;
  const free: string[] = [];
  let schemas = 0;
  beforeAll(async () => {
    server = await postgresDatabase();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await server.remove();
  });

  const open = async ({ nodes = 2, clock: source = "server", pool = 4 }: ClusterOptions = {}): Promise<Cluster> => {
    const schema = free.pop() ?? `races${++schemas}`;
    const clock = new ManualClock();
    const inSchema = (sql: string) => sql.replace(/(?<![\w)"])\.([a-z_]+)/g, `${quoted(schema)}.$1`);
    const openNode = async (n: number): Promise<Node> => {
      const wire = new Wire();
      const owner = `${schema} node ${n}`;
      // A node knows its own notifications by bytes that no other node has.
      const own = new ManualPlatform({ seed: n });
      const store = await openPostgresStore({
        url: `${server.url}?schema=${schema}&pool=${pool}`,
        pg: wired(wire),
        platform: withRealTimers({
          monoMs: () => (source === "manual" ? clock.monoMs() : nodePlatform.monoMs()),
          randomBytes: (count) => own.randomBytes(count),
        }),
        owner,
        ...(source === "manual" ? { wallMs: () => clock.wallMs() } : {}),
      });
      // A node that has been at work has a session: who comes first must not be who connected first.
      await store.reads.environments();
      let isOpen = true;
      const close = async () => {
        if (isOpen) await store.close();
        isOpen = false;
      };
      return { world: new World(store, clock), wire, applicationName: `idem ${owner}`, close };
    };
    const readDeadlocks = async () => {
      const { rows } = await admin.query(
        "select deadlocks::int from pg_stat_database where datname = current_database()",
      );
      return rows[0].deadlocks as number;
    };
    const deadlocksBefore = await readDeadlocks();
    const opened: Node[] = [];
    for (let n = 1; n <= nodes; n++) opened.push(await openNode(n));
    const closeAll = () => Promise.all(opened.map((node) => node.close()));
    onTestFinished(async () => {
      await closeAll();
      await admin.query(tableNames.map((table) => `delete from ${quoted(schema)}.${table}`).join(";"));
      free.push(schema);
    });
    const sessionsSql = `
      select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name like $1 and (wait_event_type = 'Lock' or not $2)`;
    const countSessions = async (isWaiting: boolean): Promise<number> =>
      (await admin.query(sessionsSql, [`idem ${schema} node%`, isWaiting])).rows[0].count;
    return {
      schema,
      clock,
      nodes: opened as unknown as Cluster["nodes"],
      rows: async (sql, ...params) => (await admin.query(inSchema(sql), params)).rows,
      begin: async () => {
        const client = new pg.Client({ connectionString: server.url });
        await client.connect();
        await client.query("begin");
        let isOpen = true;
        const end = async (how: "commit" | "rollback" = "commit") => {
          if (isOpen) await client.query(how).finally(() => client.end());
          isOpen = false;
        };
        onTestFinished(() => end());
        return { query: async (sql, ...params) => (await client.query(inSchema(sql), params)).rows, end };
      },
      untilWaiting: async (count, unless) => {
        let isOver = false;
        const over = () => {
          isOver = true;
        };
        unless?.then(over, over);
        while (!isOver && (await countSessions(true)) < count);
      },
      countDeadlocks: async () => {
        await closeAll();
        // A session says what it met before it is gone from the list.
        while ((await countSessions(false)) > 0);
        return (await readDeadlocks()) - deadlocksBefore;
      },
    };
  };
  return { open, server: () => server };
}

/** 0 … count − 1. */
export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** Some other order of them: the same for the same seed. */
export const shuffled = <T>(items: readonly T[], seed: number): T[] => {
  const left = [...items];
  return [...new ManualPlatform({ seed }).randomBytes(items.length)].map(
    (byte) => left.splice(byte % left.length, 1)[0]!,
  );
};

/** Between the last write of a transaction and its end. */
export const commit = /^commit$/;
