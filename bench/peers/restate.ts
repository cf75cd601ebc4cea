// Restate: its server, a service process that it calls over HTTP/2, and this process, which starts runs with Restate's own client
// and waits for their results. Three processes, because that is how Restate is deployed; all settings are its defaults, except
// that everything listens on the loopback and nothing is reported to its makers.
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect, rpc } from "@restatedev/restate-sdk-clients";
import { packageVersion } from "../machine.ts";
import { shuffled } from "../measure.ts";
import { freePort, type WithPeer } from "./peer.ts";
import type { ThreeSteps } from "./restate-service.ts";

// The binary itself: the package's own launcher is one more process, and passes no SIGKILL on.
const binary = createRequire(import.meta.url).resolve(
  `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);
const readyMs = 30_000;

export const withPeer: WithPeer = async (folder, body) => {
  const [ingress, admin, fabric] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...process.env,
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_LOG_FILTER: "warn",
  };
  if (!isLogSynced(env))
    throw new Error("This Restate does not sync its log by default: its figures would not compare");
  const args = ["--base-dir", join(folder, "restate"), "--node-name", "bench", "--no-logo", "--listen-mode", "tcp"];
  const address = ["--bind-ip", "127.0.0.1", "--bind-port", String(fabric), "--advertised-host", "127.0.0.1"];
  const server = spawn(binary, [...args, ...address], { env, stdio: ["ignore", "inherit", "inherit"] });
  const service = fork(fileURLToPath(new URL("./restate-service.js", import.meta.url)));
  try {
    const [{ port }] = (await Promise.race([once(service, "message"), ended(service, "the service process")])) as [
      { port: number },
    ];
    await Promise.race([
      register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${port}`),
      ended(server, "restate-server"),
    ]);
    const client = connect({ url: `http://127.0.0.1:${ingress}` }).serviceClient<ThreeSteps>({ name: "threeSteps" });
    return await body({
      oneRun: async (n) => {
        const key = shuffled(n);
        return client.run({ n: key }, rpc.opts({ idempotencyKey: String(key) }));
      },
      name: `Restate ${packageVersion("bench/node_modules/@restatedev/restate-server")}`,
      versions: `${version(env)}, SDK ${packageVersion("bench/node_modules/@restatedev/restate-sdk")}, Node ${process.version}`,
      durability: "one node, RocksDB, its log synced (rocksdb-disable-wal-fsync = false)",
    });
  } finally {
    await Promise.all([end(service), end(server)]);
  }
};

/** Tells the server where the service is, as soon as it listens and knows a leader for its partitions. */
async function register(admin: string, uri: string): Promise<void> {
  const deadline = performance.now() + readyMs;
  for (;;) {
    const answer = await fetch(`${admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    }).catch((error: Error) => error);
    if (answer instanceof Response && answer.ok) return;
    if (performance.now() > deadline) {
      const why =
        answer instanceof Response ? `${answer.status} ${await answer.text()}` : String(answer.cause ?? answer);
      throw new Error(`restate-server did not take the service within ${readyMs / 1_000} s: ${why}`);
    }
    await sleep(100);
  }
}

const version = (env: NodeJS.ProcessEnv): string =>
  execFileSync(binary, ["--version"], { env, encoding: "utf8" })
    .trim()
    .replace(/ \(.*/, "")
    .replace("restate-server", "Restate");

/** The log that acknowledges a journal entry is the log-server's; whether its write-ahead log is synced is in its configuration. */
function isLogSynced(env: NodeJS.ProcessEnv): boolean {
  const config = execFileSync(binary, ["--dump-config"], { env, encoding: "utf8" });
  const logServer = config.split(/^\[log-server\]$/m)[1] ?? "";
  return /^rocksdb-disable-wal-fsync = false$/m.test(logServer);
}

async function ended(child: ChildProcess, what: string): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`${what} ended early (${code ?? signal})`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // The folder goes too: nothing is gained by an orderly shutdown, which takes Restate several seconds.
  child.kill("SIGKILL");
  await once(child, "exit");
}
