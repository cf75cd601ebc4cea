// Sessions with the server: bounded pools, and how their answers read. Statements of one session are sent one behind the other
// without waiting for each answer where the driver can, and one at a time where it cannot; no session is silently dead for longer than a
// query may take; and when the store is closed they end, whatever the server does.
import type { Client, ClientBase, ClientConfig, CustomTypesConfig, Pool, PoolConfig } from "pg";
import { type LeaseTimes, leaseTimes, sharedLeaseTermMs } from "../../model/lease-times.ts";
import { decodeText } from "../../model/nul-text.ts";
import type { Platform } from "../../platform/platform.ts";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { Host, PostgresAddress } from "./address.ts";
import { cutsWaitShort, WaitCutShort } from "./faults.ts";
import { Hosts } from "./hosts.ts";

/** What is used of the driver, which the user installs. */
export type Pg = Pick<typeof import("pg"), "Pool" | "Client" | "types">;

const connectTimeoutMs = 5_000;
const askHostTimeoutMs = 2_000;
const beatConnectMsMin = 2_000;
// For what is done before a node begins, or instead of it: an index of a large table takes as long as it takes.
const preparingTimeoutMs = 60 * 60 * 1_000;
// A server that is alive says goodbye within milliseconds.
const goodbyeMs = 500;

const oidOfInt8 = 20;
const textOids: ReadonlySet<number> = new Set([25, 1042, 1043]);

// Plans made when a table was empty must not outlive that: every statement here has its index.
const sessionOptions = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off";

export interface SessionsOptions {
  readonly pg: Pg;
  readonly address: PostgresAddress;
  /** For the server's list of sessions. */
  readonly applicationName: string;
  readonly leaseTermMs?: number;
}

export class Sessions {
  private readonly open = new Set<Client>();
  private readonly connected = new WeakSet<Client>();
  private readonly pools: Pool[] = [];
  private readonly times: LeaseTimes;
  private readonly SessionClient: typeof Client;

  constructor(private readonly options: SessionsOptions) {
    const { pg, address } = options;
    this.times = leaseTimes(options.leaseTermMs ?? sharedLeaseTermMs);
    const hosts = address.hosts.length === 0 ? null : new Hosts(address.hosts, (host) => this.askHost(host));
    this.SessionClient = sessionClient(pg.Client, this.open, this.connected, hosts);
  }

  get queryTimeoutMs(): number {
    return this.options.address.queryTimeoutMs ?? this.times.queryTimeoutMs;
  }

  get lockWaitMs(): number {
    return this.times.lockWaitMs;
  }

  /** After which a beat that was due does not save the lease any more. */
  get beatPatienceMs(): number {
    return this.times.trustMs - this.times.beatEveryMs;
  }

  /** For the work of a node. */
  workers(): Pool {
    const bounds = { max: this.options.address.poolSize, query_timeout: this.queryTimeoutMs };
    return this.pool({ ...this.own(""), ...bounds, ...pipelined });
  }

  /** For its heartbeat alone: whatever the others wait for, its lease is extended. */
  beats(): Pool {
    const { beatTimeoutMs } = this.times;
    // A machine with too much to do takes a second to connect: a term so short that this is a fifth of it would never be begun.
    const connectionTimeoutMillis = Math.max(beatTimeoutMs, beatConnectMsMin);
    const bounds = { max: 1, query_timeout: beatTimeoutMs, connectionTimeoutMillis };
    return this.pool({ ...this.own(" (beats)"), ...bounds, ...pipelined });
  }

  /** For making and moving tables. */
  preparing(): Pool {
    return this.pool({ ...this.own(""), max: 2, query_timeout: preparingTimeoutMs });
  }

  /** For code of users: sessions as they would open them themselves, with nothing set and every type as `pg` reads it. */
  plain(): Pool {
    const { options, txPoolSize } = this.options.address;
    return this.pool({ ...this.base(" (steps)"), ...(options === null ? {} : { options }), max: txPoolSize });
  }

  /** For hints; through a transaction pooler no session can listen. */
  listening(): Client {
    return new this.SessionClient({ ...this.own(" (listens)"), query_timeout: this.queryTimeoutMs });
  }

  /** Sessions that are in use are given a moment, and are then cut off. */
  async close(platform: Pick<Platform, "timer">): Promise<void> {
    await waitAtMost(platform, goodbyeMs, Promise.all(this.pools.map((pool) => pool.end())));
    const sessions = [...this.open];
    const ended = sessions.filter((client) => this.connected.has(client)).map((client) => client.end());
    // One that still connects would never tell its pool that it was ended; it does when it is cut off.
    for (const client of sessions) if (!this.connected.has(client)) cutOff(client);
    await waitAtMost(platform, goodbyeMs, Promise.all(ended));
    // What a server that does not answer would keep open keeps this process alive.
    for (const client of this.open) cutOff(client);
  }

  /** One of its pools that nobody uses any more. */
  async end(pool: Pool): Promise<void> {
    this.pools.splice(this.pools.indexOf(pool), 1);
    await pool.end();
  }

  private pool(config: PoolConfig): Pool {
    const pool = new this.options.pg.Pool({ ...config, Client: this.SessionClient } as PoolConfig);
    // A session the server ended while nobody used it: the pool makes another one when it is wanted.
    pool.on("error", () => {});
    this.pools.push(pool);
    return pool;
  }

  private base(what: string) {
    const { address, applicationName } = this.options;
    return {
      connectionString: address.connectionString,
      application_name: `${applicationName.slice(0, 63 - what.length)}${what}`,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: connectTimeoutMs + address.hosts.length * askHostTimeoutMs,
      idleTimeoutMillis: 60_000,
    };
  }

  private own(what: string) {
    const { pg, address } = this.options;
    const options = [address.isPooled ? "" : sessionOptions, address.options ?? ""].filter((each) => each !== "");
    return {
      ...this.base(what),
      types: typesOf(pg),
      ...(options.length === 0 ? {} : { options: options.join(" ") }),
    };
  }

  /** Whether a session with this host can do the work. */
  private async askHost({ host, port }: Host): Promise<void> {
    const bounds = { connectionTimeoutMillis: askHostTimeoutMs, query_timeout: askHostTimeoutMs };
    const client = new this.options.pg.Client({ ...this.base(""), ...bounds });
    client.on("error", () => {});
    Object.assign(client, port === null ? { host } : { host, port });
    try {
      await client.connect();
      if (this.options.address.mayBeReadOnly) return;
      const { rows } = await client.query(isReadOnlySql);
      if ((rows[0] as { readonly: boolean }).readonly)
        throw Object.assign(new Error("it can only be read"), { code: "25006" });
    } finally {
      cutOff(client);
    }
  }
}

const cutShort = new WeakSet<ClientBase>();

/** Behind a commit, or a statement that was one: throws unless it has waited for the standby as long as it had to. */
export function refuseCutShort(client: ClientBase): void {
  if (cutShort.delete(client)) throw new WaitCutShort();
}

const pipelined: object = { pipeline: true };

/** Of a tool that has no store around it. */
export const poolFor = (pg: Pg, address: PostgresAddress, applicationName: string): Pool =>
  new Sessions({ pg, address, applicationName }).workers();

const isReadOnlySql = "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as readonly";

const cutOff = (client: Client): void =>
  void (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();

/** The driver's client: told of where the server is now, one statement at a time unless it can send several, and known while it is open. */
function sessionClient(
  Base: typeof Client,
  open: Set<Client>,
  connected: WeakSet<Client>,
  hosts: Hosts | null,
): typeof Client {
  class SessionClient extends Base {
    private last: Promise<unknown> = Promise.resolve();

    constructor(config?: string | ClientConfig) {
      super(config);
      open.add(this);
      this.once("connect", () => connected.add(this));
      this.on("end", () => {
        open.delete(this);
        hosts?.doubt();
      });
      // Between two statements nobody waits for it; the next one is told that the session is gone.
      this.on("error", () => {});
      this.on("notice", (notice) => {
        if (cutsWaitShort(notice)) cutShort.add(this);
      });
    }

    // biome-ignore lint/suspicious/noExplicitAny: as the driver declares it
    override connect(told?: any): any {
      if (hosts === null) return super.connect(told);
      const connecting = hosts
        .choose()
        .then(({ host, port }) => {
          Object.assign(this, port === null ? { host } : { host, port });
          return super.connect();
        })
        .catch((error: unknown) => {
          open.delete(this);
          hosts.doubt();
          throw error;
        });
      if (told === undefined) return connecting;
      const tell = told as (error: Error | null) => void;
      connecting.then(() => tell(null), tell);
    }

    /** `pg` will refuse a second statement while one is under way; those it can send one behind the other are meant. */
    // biome-ignore lint/suspicious/noExplicitAny: as the driver declares it
    override query(...asked: any[]): any {
      const ask = () => (super.query as (...asked: unknown[]) => unknown)(...asked);
      const isPipelined = (this as { pipeline?: boolean }).pipeline === true;
      const isOwnWay = typeof asked[0]?.submit === "function" || asked.some((each) => typeof each === "function");
      if (isPipelined || isOwnWay) return ask();
      const answer = this.last.then(ask);
      this.last = answer.catch(() => {});
      return answer;
    }
  }
  return SessionClient as unknown as typeof Client;
}

function typesOf(pg: Pg): CustomTypesConfig {
  return {
    getTypeParser: ((oid: number, format?: "text" | "binary") => {
      if (oid === oidOfInt8) return Number;
      if (textOids.has(oid)) return decodeText;
      return format === undefined ? pg.types.getTypeParser(oid) : pg.types.getTypeParser(oid, format as "text");
    }) as CustomTypesConfig["getTypeParser"],
  };
}
