// The server under measure, in a process of its own. It tells its parent which runs have ended over the pipe between them, so
// that waiting for a result costs neither of them a request; and how much processor time it has used, when asked.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Server from "../packages/idem/dist/server.js";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, here.endsWith("dist") ? "../.." : "..", "packages", "idem", "dist");
const { startServer } = (await import(pathToFileURL(join(dist, "server.js")).href)) as typeof Server;

const [store] = process.argv.slice(2);
const quiet = { debug() {}, info() {}, warn: console.error, error: console.error };
const server = await startServer(
  { mode: "dev", port: 0, store: store!, discovery: false, poll: false, runsInFlight: 2_000 },
  { logger: quiet },
);
const engine = await server.world.engine("default");

let ended: string[] = [];
const announce = engine.ends.announce.bind(engine.ends);
engine.ends.announce = (runId, end) => {
  announce(runId, end);
  if (ended.length === 0) {
    setImmediate(() => {
      process.send!({ ended });
      ended = [];
    });
  }
  ended.push(end.state === "completed" ? runId : `${end.state} ${runId}`);
};

process.on("message", (message) => {
  if (message === "cpu") process.send!({ cpu: process.cpuUsage() });
  if (message === "stop") void server.close().then(() => process.exit(0));
});
process.send!({ origin: server.origin });
