// npm run bench:server [-- --seconds 6] [--rounds 3]
// The run of docs/performance.md over HTTP: event in by POST, an app of the official SDK called back, three durable steps, result out.
// Server, app and load generator are three processes on this machine and share its cores. Four apps in turn: the SDK with and
// without checkpoints; a bare one that says what the SDK says and does nothing else; and the bare one, as slow as the SDK is. The server does
// the same work for the last two and for the SDK, so what lies between them is what it costs to be asked one at a time.
import { type ChildProcess, fork } from "node:child_process";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine, packageVersion } from "./machine.ts";
import { keepInFlight, keepInFlightFor, shuffled } from "./measure.ts";
import { onFreshFile } from "./world.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "6" }, rounds: { type: "string", default: "3" } },
});
const windowMs = Number(values.seconds) * 1_000;
const rounds = Number(values.rounds);
const agent = new Agent({ keepAlive: true, maxSockets: 200 });

interface Round {
  readonly perSecond: number;
  readonly p50AloneMs: number;
  readonly p99AloneMs: number;
  /** Microseconds of processor time per run, by process. */
  readonly server: number;
  readonly app: number;
  readonly load: number;
}

const apps = ["checkpoints", "no checkpoints", "bare app", "slow bare app"] as const;
type App = (typeof apps)[number];
const taken: Record<App, Round[]> = { checkpoints: [], "no checkpoints": [], "bare app": [], "slow bare app": [] };
// A young process compiles its code: its first thousand runs cost the server twice as much. All servers are as old when they are measured.
const runsBefore = 6_000;
// The SDK takes so much of its own thread for each of its four answers and reports.
const slowMs = 1;
for (let n = 0; n < rounds; n++) {
  for (const kind of apps) {
    process.stderr.write(`round ${n + 1} of ${rounds}, ${kind}: `);
    const round = await takeRound(kind);
    taken[kind].push(round);
    process.stderr.write(`${Math.round(round.perSecond)} runs/s, alone p50 ${round.p50AloneMs.toFixed(1)} ms\n`);
  }
}
agent.destroy();
report();

async function takeRound(kind: App): Promise<Round> {
  return onFreshFile(async (path) => {
    const host = start("server-host", [`sqlite:${path}`]);
    const { origin } = await said<{ origin: string }>(host, "origin");
    const waiting = new Map<string, () => void>();
    const early = new Set<string>();
    host.on("message", (message: { ended?: string[] }) => {
      for (const runId of message.ended ?? []) {
        const tell = waiting.get(runId);
        if (tell === undefined) early.add(runId);
        else tell();
        waiting.delete(runId);
      }
    });
    let sent = 0;
    const one = async () => {
      const body = await post(`${origin}/e/bench?decisions=1`, "POST", {
        name: "bench/run",
        data: { n: shuffled(sent++) },
      });
      const { decisions } = JSON.parse(body) as { decisions: { runId: string }[] };
      const { runId } = decisions[0]!;
      if (early.delete(runId)) return;
      await new Promise<void>((resolve) => waiting.set(runId, resolve));
    };
    const first = await startApp("bare app", origin);
    let app = first;
    try {
      await keepInFlight(100, runsBefore, one);
      await stop(first);
      app = await startApp(kind, origin);
      await keepInFlight(20, 500, one);
      const before = await cpuOf(host, app);
      const sentBefore = sent;
      const loaded = await keepInFlightFor(100, { warmUpMs: 2_000, windowMs }, one);
      const after = await cpuOf(host, app);
      const runs = sent - sentBefore;
      const alone = await keepInFlight(1, 300, one);
      if (early.size > 0)
        throw new Error(`runs ended that nobody sent, or badly: ${[...early].slice(0, 3).join(", ")}`);
      return {
        perSecond: loaded.perSecond,
        p50AloneMs: alone.p50Ms,
        p99AloneMs: alone.p99Ms,
        server: (after.server - before.server) / runs,
        app: (after.app - before.app) / runs,
        load: (after.load - before.load) / runs,
      };
    } finally {
      await stop(app);
      await stop(host);
    }
  });
}

async function startApp(kind: App, origin: string): Promise<ChildProcess> {
  if (kind === "bare app" || kind === "slow bare app") {
    const bare = start("server-bare-app", [origin, String(kind === "bare app" ? 0 : slowMs)]);
    await said(bare, "registered");
    return bare;
  }
  const app = start("server-app", [origin, kind === "checkpoints" ? "on" : "off"]);
  const { url } = await said<{ url: string }>(app, "url");
  await post(url, "PUT", { url });
  return app;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.send("stop");
  await ended;
}

function start(program: string, args: readonly string[]): ChildProcess {
  const own = fileURLToPath(import.meta.url);
  const file = own.replace(/server\.(\w+)$/, `${program}.$1`);
  return fork(file, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

function said<T>(child: ChildProcess, key: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const hear = (message: Record<string, unknown>) => {
      if (!(key in message)) return;
      child.off("message", hear);
      resolve(message as T);
    };
    child.on("message", hear);
    child.once("exit", (code) => reject(new Error(`a process of the bench ended with ${code}`)));
  });
}

async function cpuOf(host: ChildProcess, app: ChildProcess): Promise<{ server: number; app: number; load: number }> {
  const total = ({ user, system }: NodeJS.CpuUsage) => user + system;
  const ask = async (child: ChildProcess) => {
    child.send("cpu");
    return total((await said<{ cpu: NodeJS.CpuUsage }>(child, "cpu")).cpu);
  };
  return { server: await ask(host), app: await ask(app), load: total(process.cpuUsage()) };
}

function post(url: string, method: string, value: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(value);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request(url, { method, agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${method} ${url} answered ${response.statusCode}: ${text.slice(0, 300)}`));
      });
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function report(): void {
  const machine = describeMachine();
  const median = (round: readonly Round[], of: keyof Round): number =>
    round.map((each) => each[of]).sort((a, b) => a - b)[Math.floor(round.length / 2)]!;
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, inngest ${packageVersion("node_modules/inngest")}, ${machine.commit}, ${machine.takenAt}`,
  );
  console.log(
    "A run is event in over HTTP, three durable steps in an app of the official SDK, result out. Medians of rounds.\n",
  );
  console.log("app             runs/s, 100 in flight  alone p50 / p99 ms  processor µs per run: server, app, load");
  for (const kind of apps) {
    const round = taken[kind];
    const alone = `${median(round, "p50AloneMs").toFixed(1)} / ${median(round, "p99AloneMs").toFixed(1)}`;
    const cpu = (["server", "app", "load"] as const).map((each) => Math.round(median(round, each))).join(", ");
    console.log(
      `${kind.padEnd(14)}  ${Math.round(median(round, "perSecond")).toLocaleString("en-US").padStart(21)}  ${alone.padStart(18)}  ${cpu}`,
    );
  }
}
