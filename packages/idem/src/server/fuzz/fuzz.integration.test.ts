// Malformed requests over the whole table, to the built server in a process of its own, on both stores, with an app of the real SDK whose
// runs must go on meanwhile. `npm test` sends 3,000, `npm run proof -- fuzz` 60,000 to each store, FUZZ_REQUESTS another number; FUZZ_STORE says one of the
// stores, FUZZ_SEED repeats what a failure names.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Inngest } from "inngest";
import { serve } from "inngest/node";
import { expect, onTestFinished, test } from "vitest";
import { startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { temporaryFolder } from "../../cli/store-world.ts";
import { routes, sockets } from "../routes.ts";
import { Chance } from "./chance.suite.ts";
import { type Answer, carry, type Reaction, send } from "./line.suite.ts";
import { type Attack, attackOn, type Target } from "./requests.suite.ts";
import { spareFunction } from "./samples.suite.ts";

type Mode = "dev" | "start";

const bin = fileURLToPath(new URL("../../../bin/idem.mjs", import.meta.url));
const isShort = process.env.FUZZ_REQUESTS === undefined;
const seedsFile = new URL("../../../../../proof/seeds.json", import.meta.url);
const seed = Number(process.env.FUZZ_SEED ?? JSON.parse(readFileSync(seedsFile, "utf8")).fuzz);
// Some of them wait for routes that take their time; with fewer the server would wait for them.
const attackersAtOnce = 64;
// In the long form a thousand times as well: each costs as much as twenty requests.
const canaryEvery = (requests: number) => Math.max(100, Math.floor(requests / 1_000));
// A fresh server has about 100 MB. A body kept per request would pass this within the short form.
const rssBytesMax = 600 * 1024 * 1024;

let secrets = 0;
// Words repeat themselves, and a secret must not.
const secret = () => createHash("sha256").update(`secret ${++secrets}`).digest("hex").slice(0, 32);
const keys = { event: secret(), canary: secret(), signing: secret() };

interface Case {
  readonly mode: Mode;
  readonly store: "sqlite" | "postgres";
  readonly requests: number;
}

const cases: readonly Case[] = isShort
  ? [
      { mode: "dev", store: "sqlite", requests: 1_000 },
      { mode: "start", store: "sqlite", requests: 1_000 },
      { mode: "start", store: "postgres", requests: 1_000 },
    ]
  : (["sqlite", "postgres"] as const).flatMap((store) =>
      (["dev", "start"] as const).map((mode) => ({ mode, store, requests: Number(process.env.FUZZ_REQUESTS) / 2 })),
    );
const chosen = cases
  .filter(({ store }) => [undefined, store].includes(process.env.FUZZ_STORE as Case["store"]))
  .map((each) => [each.mode, each.store, each.requests] as const);

interface Server {
  readonly port: number;
  readonly process: ChildProcess;
  readonly out: () => string;
}

async function startServer(mode: Mode, store: Case["store"], appUrl: string): Promise<Server> {
  const given = [keys.event, keys.canary].flatMap((key) => ["--event-key", key]);
  const own = mode === "dev" ? ["--no-discovery", "--no-poll"] : [...given, "--signing-key", keys.signing];
  const where = store === "postgres" ? ["--store", await database()] : [];
  const server = spawn(process.execPath, [bin, mode, "--port", "0", "-u", appUrl, ...own, ...where], {
    cwd: temporaryFolder(),
    stdio: ["ignore", "pipe", "pipe"],
    // Without it a database takes no secrets, and no source of webhooks.
    env: { PATH: process.env.PATH, IDEM_SECRET_KEY: `${secret()}${secret()}` },
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  let out = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream.on("data", (chunk) => {
      out = (out + chunk).slice(-20_000);
    });
  }
  await expect.poll(() => out).toMatch(/Ctrl-C stops/);
  return { port: Number(/listens +http:\/\/[^:]+:(\d+)/.exec(out)![1]), process: server, out: () => out };
}

async function database(): Promise<string> {
  const server = await startLocalPostgres();
  onTestFinished(() => server.remove());
  return server.url;
}

/** An app whose one function proves that the server still does its work. */
async function startApp(mode: Mode) {
  const expected = new Map<number, () => void>();
  // Until the server's address is known it is an app that is not up yet.
  let answer: RequestListener = (_, response) => void response.writeHead(503).end();
  const app = createServer((request, response) => answer(request, response));
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  onTestFinished(() => void app.close());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/inngest`;
  return {
    url,
    serveFor: (origin: string) => {
      const signed = { eventKey: keys.canary, signingKey: keys.signing };
      const client = new Inngest({ id: "canary", baseUrl: origin, isDev: mode === "dev", ...signed });
      const count = client.createFunction(
        { id: "count", retries: 0, triggers: [{ event: "canary/sent" }] },
        ({ event }) => expected.get((event.data as { n: number }).n)?.(),
      );
      const { id, event } = spareFunction;
      const spare = client.createFunction({ id, retries: 0, triggers: [{ event }] }, () => ({ n: 1 }));
      answer = serve({ client, functions: [count, spare] });
    },
    ran: (n: number) => new Promise<void>((resolve) => expected.set(n, resolve)),
  };
}

function ask(port: number, method: string, path: string, value?: unknown): Promise<Reaction> {
  const body = value === undefined ? null : Buffer.from(JSON.stringify(value));
  const headers: Record<string, string> = {
    authorization: `Bearer ${keys.signing}`,
    "content-type": "application/json",
  };
  if (body !== null) headers["content-length"] = String(body.length);
  return send(port, { method, path, headers, body });
}

/** The fault of a reaction; null when there is none. */
function faultOf(reaction: Reaction, attack: Attack): string | null {
  if (reaction === "cut") return null;
  if (reaction === "silent") return attack.kind === "http" && attack.waits ? null : "no answer";
  const { status, text } = reaction;
  if (/\n\s+at \S.*:\d+:\d+/.test(text)) return "a stack in the answer";
  // 502: an app that was named did not answer, and is told apart from the server by its code.
  // 501: what this store cannot do.
  const isOurs =
    status >= 500 &&
    status !== 503 &&
    !(status === 502 && text.includes("APP_SYNC_FAILED")) &&
    !(status === 501 && text.includes("BACKUP_NOT_HERE"));
  return isOurs ? `${status} ${text}` : null;
}

function shown(attack: Attack): string {
  if (attack.kind === "raw") return `raw ${JSON.stringify(attack.bytes.toString("latin1").slice(0, 300))}`;
  const { method, path, headers, body } = attack;
  const text = body?.toString("latin1").slice(0, 500) ?? "";
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)} ${JSON.stringify(text)}`;
}

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;

/** Processor time it has used; clock ticks are hundredths of a second on every Linux Node runs on. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

test.each(chosen)(
  "no request can make `idem %s` on %s fail, forget its work or grow without end",
  async (mode, store, requests) => {
    const app = await startApp(mode);
    const server = await startServer(mode, store, app.url);
    const { port } = server;
    app.serveFor(`http://127.0.0.1:${port}`);
    await expect.poll(() => server.out()).toMatch(/canary/);

    /** An event is accepted, executed by the app, and its run is seen to have ended. */
    async function checkCanary(n: number): Promise<{ runId: string; eventId: string }> {
      const ran = app.ran(n);
      const sent = (await ask(port, "POST", `/e/${keys.canary}`, { name: "canary/sent", data: { n } })) as Answer;
      expect(sent.status, `canary ${n} of seed ${seed}: ${sent.text}`).toBe(200);
      const eventId = JSON.parse(sent.text).ids[0] as string;
      await ran;
      const run = async () => {
        const runs = (await ask(port, "GET", `/v1/events/${eventId}/runs`)) as Answer;
        return JSON.parse(runs.text).data[0] as { run_id: string; status: string };
      };
      await expect.poll(async () => (await run()).status).toBe("Completed");
      return { runId: (await run()).run_id, eventId };
    }

    // Something there for the routes that need it.
    const filter = { function: spareFunction.slug };
    for (const [method, path, body] of [
      ["POST", "/api/webhooks", { name: "ci", provider: "github" }],
      ["PUT", "/api/radar/channels/ops", { kind: "log", reason: "because" }],
      ["POST", "/api/bulk", { id: "bulk-1", action: "rerun", filter }],
    ] as const) {
      expect(await ask(port, method, path, body)).toMatchObject({ status: 200 });
    }
    const chance = new Chance(seed);
    const target: Target = {
      ...(await checkCanary(0)),
      routes,
      socketPaths: sockets.map(({ path }) => path),
      eventKey: keys.event,
      signingKey: keys.signing,
    };
    const counts: Record<string, number> = {};
    const faults: string[] = [];
    const rss: number[] = [];
    let sent = 0;
    const attacker = async () => {
      while (sent < requests && faults.length < 10) {
        const n = ++sent;
        if (n % canaryEvery(requests) === 0) {
          await checkCanary(n);
          rss.push(rssOf(server.process.pid!));
        }
        const attack = attackOn(target, chance);
        const reaction = await carry(port, attack);
        const kind = typeof reaction === "string" ? reaction : String(reaction.status);
        counts[kind] = (counts[kind] ?? 0) + 1;
        const fault = faultOf(reaction, attack);
        if (fault !== null) {
          faults.push(`${fault} to ${shown(attack)}`);
          // The rest of a long form may take a quarter of an hour.
          if (!isShort) console.error(faults.at(-1), server.out().slice(-2_000));
        }
        expect(server.process.exitCode, `seed ${seed}, ended at ${shown(attack)}\n${server.out()}`).toBeNull();
      }
    };
    const since = { cpu: process.cpuUsage(), server: cpuMsOf(server.process.pid!) };
    await Promise.all(Array.from({ length: attackersAtOnce }, attacker));
    const { user, system } = process.cpuUsage(since.cpu);
    const cpu = { attackers: (user + system) / 1_000, server: cpuMsOf(server.process.pid!) - since.server };
    await checkCanary(-1);
    // Quarter by quarter: what only grows is seen before it is too much.
    const quarters = [0, 1, 2, 3].map((n) => rss.slice((n * rss.length) / 4, ((n + 1) * rss.length) / 4));
    const megabytes = quarters.map((quarter) => Math.round(Math.max(0, ...quarter) / 2 ** 20));
    const each = (ms: number) => `${(ms / sent).toFixed(2)} ms`;
    console.info(
      `idem ${mode} on ${store}: ${sent} requests, seed ${seed}, ${JSON.stringify(counts)}, ${megabytes.join(", ")} MB, ` +
        `processor time for each ${each(cpu.server)} here, ${each(cpu.attackers)} attackers`,
    );
    expect(faults, `seed ${seed}`).toEqual([]);
    expect(Math.max(...rss), `seed ${seed}`).toBeLessThan(rssBytesMax);
    server.process.kill("SIGTERM");
    expect(await once(server.process, "exit")).toEqual([0, null]);
  },
  60 * 60_000,
);
