// npm run verify:time [-- --threads <2>] [--times <3>]: how long a function of ten steps takes with every single adversity, each time in new threads. On an idle machine.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodePlatform } from "../node_modules/idem/modules/platform/node-platform.js";
import { PlayingThreads } from "../node_modules/idem/modules/verify/playing-threads.js";
import { verifyFunction } from "../node_modules/idem/modules/verify/verify-function.js";

const { values } = parseArgs({
  options: { threads: { type: "string", default: "2" }, times: { type: "string", default: "3" } },
});
const program = join(dirname(fileURLToPath(import.meta.url)), "timing", "ten-steps.mjs");
const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };

for (let time = 0; time < Number(values.times); time++) {
  const size = Number(values.threads);
  const threads = new PlayingThreads({ platform: nodePlatform, loader: null, size, answerMsMax: 30_000 });
  const beganAt = performance.now();
  const [fn] = await threads.describe([program]);
  const describedAt = performance.now();
  const cpu = process.cpuUsage();
  const platform = nodePlatform;
  const asked = { threads, platform, modules: [program], fn, endHandlers: [], event, budgetMs: 0 };
  const { verdict, schedules } = await verifyFunction(asked);
  const tookMs = performance.now() - describedAt;
  const { user, system } = process.cpuUsage(cpu);
  await threads.close();
  console.log(
    `${verdict} in ${schedules} schedules: ${tookMs.toFixed(0)} ms (${((user + system) / 1_000).toFixed(0)} ms of processor), after ${(describedAt - beganAt).toFixed(0)} ms of loading; ${process.version}, ${size} threads`,
  );
}
