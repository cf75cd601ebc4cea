// Processes whose store is gone: a server that is dead refuses connections, one that is frozen keeps them and says nothing. Either way
// the process tells, and ends by itself when it is asked to.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type SilentProxy, silentProxy } from "../store/postgres/silent-proxy.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";
import { temporaryFolder } from "./store-world.ts";

const bin = fileURLToPath(new URL("../../bin/idem.mjs", import.meta.url));
const entry = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
// Asserted is that it ends by itself. A process that does not meets this bound, which leaves room for a busy machine.
const timeout = 240_000;

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

const gone: readonly (readonly [string, (proxy: SilentProxy) => void])[] = [
  ["dead", (proxy) => proxy.die()],
  ["frozen", (proxy) => proxy.silence("all")],
];

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const written = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    written.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    written.err += chunk;
  });
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const says = (text: string) => expect.poll(() => written.out).toContain(text);
  return { child, written, ended, says };
}

test("a server whose PostgreSQL is dead or frozen says so, and ends by itself when it is told to", {
  timeout,
}, async () => {
  const one = async ([what, leave]: (typeof gone)[number]) => {
    const proxy = await silentProxy(server.url);
    const args = [bin, "dev", "--port", "0", "--no-discovery", "--store", `${proxy.url}?schema=server_${what}`];
    const { child, written, ended, says } = start(args);
    await says("Ctrl-C stops");
    const [, origin] = /listens +(\S+)/.exec(written.out)!;
    const health = async () => (await fetch(`${origin}/health`)).status;
    expect(await health()).toBe(200);
    leave(proxy);
    await expect.poll(health).toBe(503);
    expect((await fetch(`${origin}/health/live`)).status).toBe(200);
    child.kill("SIGTERM");
    expect([what, await ended]).toEqual([what, [0, null]]);
  };
  await Promise.all(gone.map(one));
});

test("a server whose PostgreSQL is not ready says so once and ends on SIGTERM; a command fails at once", {
  timeout,
}, async () => {
  const proxy = await silentProxy(server.url);
  proxy.reply("starting-up");
  const { child, written, ended, says } = start([bin, "dev", "--port", "0", "--no-discovery", "--store", proxy.url]);
  await says("store not ready, retrying");
  const doctor = start([bin, "doctor", "--store", proxy.url]);
  expect(await doctor.ended).toEqual([3, null]);
  expect(doctor.written.err).toContain("the database system is starting up");
  child.kill("SIGTERM");
  expect([await ended, written.err]).toEqual([[0, null], ""]);
  expect(written.out.match(/store not ready/g)).toHaveLength(1);
  expect(written.out).toContain("Stopped before the store was ready.");
});

const script = (url: string, untilRefused = false) => `
  import { Idem } from ${JSON.stringify(entry)};
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const idem = new Idem({ id: "shop", store: ${JSON.stringify(url)}, logger: quiet });
  idem.createFunction({ id: "waits" }, { event: "a" }, async ({ step }) => step.sleep("long", "1h"));
  await idem.start();
  await idem.send({ name: "a" });
  const alive = setInterval(() => {}, 1_000);
  process.once("SIGTERM", async () => {
    clearInterval(alive);
    await idem.stop({ grace: 500 });
    console.log("stopped");
  });
  console.log("started");
  const refused = ${untilRefused};
  while (refused && (await idem.send({ name: "a" }).then(() => true, () => false)))
    await new Promise((resolve) => setTimeout(resolve, 50));
  if (refused) console.log("refused");`;

test("an app whose PostgreSQL is dead or frozen ends by itself after stop()", { timeout }, async () => {
  const one = async ([what, leave]: (typeof gone)[number]) => {
    const proxy = await silentProxy(server.url);
    const path = join(temporaryFolder(), "app.mjs");
    writeFileSync(path, script(`${proxy.url}?schema=app_${what}`));
    const { child, written, ended, says } = start([path]);
    await says("started");
    leave(proxy);
    child.kill("SIGTERM");
    expect([what, await ended, written]).toEqual([what, [0, null], { out: "started\nstopped\n", err: "" }]);
  };
  await Promise.all(gone.map(one));
});

test("an app whose SQLite file is gone is refused, and ends by itself after stop()", { timeout }, async () => {
  const folder = temporaryFolder();
  const [path, file] = [join(folder, "app.mjs"), join(folder, "shop.db")];
  writeFileSync(path, script(`sqlite:${file}`, true));
  const { child, written, ended, says } = start([path]);
  await says("started");
  for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  await says("refused");
  child.kill("SIGTERM");
  expect([await ended, written.out]).toEqual([[0, null], "started\nrefused\nstopped\n"]);
});
