// Two processes over one PostgreSQL, with a lease of a few seconds: one of them is kept busy, or stopped, for longer than that.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

const built = fileURLToPath(new URL("../../modules", import.meta.url));
// Long enough that a busy machine renews it in time.
const leaseTermMs = 4_000;
// Also long enough to start the thread that renews it: with ten times as many busy processes as cores, its first heartbeat came 4.5 s after the lease.
const leaseTermAtStartMs = 16_000;

// A node from the built package, with one function whose step runs the given body; it says what happens, a line each. One whose role is "api"
// accepts events and executes nothing.
const code = `
  const [built, url, name, role, termMs, body] = process.argv.slice(1);
  const load = (file) => import(built + "/" + file + ".js");
  const { default: pg } = await import("pg");
  const { openPostgresStore } = await load("store/postgres/postgres-store");
  const { nodePlatform } = await load("platform/node-platform");
  const { Engine } = await load("engine/engine");
  const { Telling } = await load("engine/telling");
  const { defineFunction } = await load("sdk/create-function");
  const say = (what, more = {}) => process.stdout.write(JSON.stringify({ what, name, ...more }) + "\\n");
  const line = (level) => (...args) => process.stderr.write(level + " " + args.map(String).join(" ") + "\\n");
  const logger = { debug() {}, info() {}, warn: line("warn"), error: line("error") };
  const leaseTermMs = Number(termMs);
  const store = await openPostgresStore({ url, pg, platform: nodePlatform, owner: name, leaseTermMs });
  const engine = new Engine({
    store, platform: nodePlatform, env: "default", app: "shop", runsInFlight: 10, leaseTermMs, eventWindowMs: 60_000,
    about: { node: name, version: "1.0.0", role }, telling: new Telling({ logger, platform: nodePlatform }), checkEvents: async () => {},
  });
  const work = new Function("name", "say", "return (" + body + ")")(name, say);
  const codes = defineFunction("shop", { id: "work", retries: 0 }, [{ event: "work" }], async ({ step }) => {
    const by = await step.run("work", ({ entered }) => { say("entered", { entered }); return work(); });
    say("recorded", { by });
    return by;
  });
  await engine.register(codes);
  await engine.start();
  process.on("message", async (message) => {
    if (message === "send") {
      const { decisions } = await engine.accept([{ name: "work" }], 60_000, []);
      say("sent", { runId: decisions[0].runId });
    }
    if (message === "stop") { await engine.stop(0); await store.close(); say("stopped"); process.disconnect(); }
  });
  say("started");
`;

interface Said {
  readonly what: "started" | "sent" | "entered" | "recorded" | "stopped";
  readonly name: string;
  readonly entered?: number;
}

function startNode(
  url: string,
  name: string,
  body: string,
  all: Said[],
  { role = "all", termMs = leaseTermMs }: { readonly role?: "all" | "api"; readonly termMs?: number } = {},
) {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--input-type=module", "-e", code, built, url, name, role, String(termMs), body],
    { stdio: ["ignore", "pipe", "ignore", "ipc"], cwd: fileURLToPath(new URL(".", import.meta.url)) },
  );
  const waiting: { readonly what: string; resolve(): void }[] = [];
  createInterface({ input: child.stdout! }).on("line", (text) => {
    const said = JSON.parse(text) as Said;
    all.push(said);
    for (const each of waiting.filter(({ what }) => what === said.what)) each.resolve();
  });
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const isSaid = (what: Said["what"]) => all.some((said) => said.what === what && said.name === name);
  return {
    child,
    ended,
    heard: (what: Said["what"]) =>
      isSaid(what) ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ what, resolve })),
  };
}

test("a step that keeps the event loop busy for longer than a lease is entered once, by one node, and its outcome is kept", async () => {
  const url = `${server.url}?schema=blocked&pool=3`;
  const said: Said[] = [];
  // Longer than a lease lasts and than it takes any other node to look for lost ones. The loop is blocked without the processor's time,
  // which the other node and the server need.
  const busy = `() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 13_000); return name; }`;
  const one = startNode(url, "one", busy, said);
  await one.heard("started");
  const two = startNode(url, "two", busy, said);
  await two.heard("started");
  one.child.send("send");
  await one.heard("recorded");
  expect(said.filter(({ what }) => what === "entered")).toEqual([{ what: "entered", name: "one", entered: 1 }]);
  expect(said.filter(({ what }) => what === "recorded")).toEqual([{ what: "recorded", name: "one", by: "one" }]);
  // The thread beside the main one keeps no process alive.
  one.child.send("stop");
  await one.ended;
});

test("a process whose first step blocks the event loop right after its start keeps its run", async () => {
  const url = `${server.url}?schema=backlog&pool=3`;
  const said: Said[] = [];
  const options = { termMs: leaseTermAtStartMs };
  // Longer than a lease lasts and than it takes another node to look for lost ones.
  const blocked = `() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000); return name; }`;
  const receiver = startNode(url, "receiver", blocked, said, { ...options, role: "api" });
  await receiver.heard("started");
  receiver.child.send("send");
  await receiver.heard("sent");
  // The run waits in the store; the node that starts now leases it at once.
  const one = startNode(url, "one", blocked, said, options);
  await one.heard("entered");
  const two = startNode(url, "two", blocked, said, options);
  await two.heard("started");
  await Promise.race([one.heard("recorded"), two.heard("entered")]);
  expect(said.filter(({ what }) => what === "entered")).toEqual([{ what: "entered", name: "one", entered: 1 }]);
  expect(said.filter(({ what }) => what === "recorded")).toEqual([{ what: "recorded", name: "one", by: "one" }]);
});

test("a process that is stopped for longer than a lease, with all its threads, records nothing any more when it goes on", async () => {
  const url = `${server.url}?schema=frozen&pool=3`;
  const said: Said[] = [];
  // The first node cannot end the step before it is stopped.
  const brief = `() => name === "two" ? name : new Promise((resolve) => process.once("SIGCONT", () => resolve(name)))`;
  const one = startNode(url, "one", brief, said);
  await one.heard("started");
  const two = startNode(url, "two", brief, said);
  await two.heard("started");
  one.child.send("send");
  await one.heard("entered");
  one.child.kill("SIGSTOP");
  await two.heard("recorded");
  one.child.kill("SIGCONT");
  // It answers again, having heard what became of its lease.
  one.child.send("stop");
  await one.heard("stopped");
  expect(said.filter(({ what }) => what === "entered").map(({ name, entered }) => [name, entered])).toEqual([
    ["one", 1],
    ["two", 2],
  ]);
  expect(said.filter(({ what }) => what === "recorded").map(({ name }) => name)).toEqual(["two"]);
});
