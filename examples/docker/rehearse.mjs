// node examples/docker/rehearse.mjs
//
// What the image does, without Docker: the package is installed by the Dockerfile's own line, its command is started with its environment as a user who is not root (where root runs this) in a folder that user cannot
// write to, on a file and on a PostgreSQL; the health check is asked; SIGTERM ends it. Build first, run with Node 24.15 or newer (or after `npm run runtimes`, whose Node 24 is then taken). Needs the network.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runtimes } from "../../runtimes/runtimes.mjs";
import { startLocalPostgres } from "../../scripts/local-postgres.mjs";
import { execForm, lastOf, readDockerfile } from "./read-dockerfile.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const dockerfile = readDockerfile(readFileSync(join(here, "Dockerfile"), "utf8"));
const node = runtimes().find(({ name }) => name === "node24")?.path ?? process.execPath;
const isRoot = process.getuid?.() === 0;
const nobody = isRoot ? { uid: 65534, gid: 65534 } : {};

function expectThat(what, holds, found) {
  if (!holds) throw new Error(`${what}: ${found}`);
}

function install(folder) {
  const pack = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder];
  const out = execFileSync("npm", [...pack, join(root, "packages", "idem")], { encoding: "utf8" });
  const line = dockerfile.find(({ name, rest }) => name === "RUN" && rest.includes("npm install")).rest;
  const IDEM = `./${out.trim().split("\n").at(-1)}`;
  execFileSync("sh", ["-c", line], {
    cwd: folder,
    env: { ...process.env, IDEM },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const [, ...entry] = execForm(lastOf(dockerfile, "ENTRYPOINT"));
const command = execForm(lastOf(dockerfile, "CMD"));

async function run(folder, store, secrets) {
  const port = await freePort();
  const env = { PATH: process.env.PATH, NODE_ENV: "production", IDEM_STORE: store, ...secrets };
  // The port alone differs: another server may be on this machine.
  const args = [...entry, ...command, "--port", String(port)];
  const server = spawn(node, args, { cwd: folder, env, ...nobody });
  let out = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (out += text));
  const ended = new Promise((resolve) => server.once("exit", (code, signal) => resolve({ code, signal, out })));
  const check = () => {
    const [, flag, program] = execForm(lastOf(dockerfile, "HEALTHCHECK"));
    return spawnSync(node, [flag, program.replace(":8288/", `:${port}/`)], { env, ...nobody }).status;
  };
  return { server, ended, check, out: () => out };
}

async function rehearse(folder, what, store, secrets) {
  const { server, ended, check, out } = await run(folder, store, secrets);
  try {
    for (let tries = 0; check() !== 0; tries++) expectThat(`${what}: not healthy`, tries < 60, out());
    server.kill("SIGTERM");
    const end = await ended;
    expectThat(`${what}: SIGTERM`, end.code === 0, JSON.stringify(end));
    expectThat(`${what}: healthy after its end`, check() !== 0, out());
    console.log(`${what}: healthy, as ${isRoot ? "nobody" : "this user"}; SIGTERM ended it`);
  } finally {
    server.kill("SIGKILL");
  }
}

const folder = mkdtempSync(join(tmpdir(), "idem-docker-"));
const data = join(folder, "data");
let postgres = null;
try {
  install(folder);
  chmodSync(folder, 0o755);
  mkdirSync(data);
  if (isRoot) chownSync(data, nobody.uid, nobody.gid);
  const made = execFileSync(node, [...entry, "secret", "make"], { cwd: folder, encoding: "utf8" });
  const secrets = Object.fromEntries([...made.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
  for (const missing of ["IDEM_PASSWORD", "IDEM_EVENT_KEY", "IDEM_SIGNING_KEY"]) {
    const { [missing]: _, ...others } = secrets;
    const { ended } = await run(folder, `sqlite:${data}/server.db`, others);
    const { code, out } = await ended;
    expectThat(`started without ${missing}`, code !== 0, out);
  }
  console.log("without a password or a key it does not start");
  await rehearse(folder, "on a file", `sqlite:${data}/server.db`, secrets);
  expectThat("the file is not in the volume", readdirSync(data).includes("server.db"), readdirSync(data).join());
  postgres = await startLocalPostgres();
  await rehearse(folder, "on PostgreSQL", postgres.url, secrets);
} finally {
  await postgres?.crash();
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
}
