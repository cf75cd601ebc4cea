// npm run deploy:time [-- --runs <10000>] [--sample <runs>]: how long `idem check-deploy` takes over a store with so many open runs of three functions, each with five steps done and a
// wait under way; the process as users start it, from its beginning to its end. On an idle machine.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodePlatform } from "../node_modules/idem/modules/platform/node-platform.js";
import { openInlineStore } from "../node_modules/idem/modules/store/sqlite/inline-store.js";
import { loadMigrations } from "../node_modules/idem/modules/store/sqlite/migrations.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({ options: { runs: { type: "string", default: "10000" }, sample: { type: "string" } } });
const count = Number(values.runs);

const folder = mkdtempSync(join(tmpdir(), "idem-deploy-"));
try {
  mkdirSync(join(folder, "src"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const program = join(folder, "src", "functions.mjs");
  writeFileSync(
    program,
    `import { Idem } from "idem";
export const define = (idem) => {
  for (const id of ["bill", "ship", "thank"]) {
    idem.createFunction({ id, idempotency: "event.data.order" }, { event: \`shop/\${id}\` }, async ({ event, step }) => {
      const order = await step.run("load", () => ({ id: event.data.order, lines: ["a", "b", "c"] }));
      await step.run("reserve", () => order.lines.length);
      await Promise.all([step.run("charge", ({ key }) => key), step.run("invoice", () => "in_1")]);
      await step.run("pack", () => "packed");
      if (event.data.order % 2 === 0) await step.sleep("month", "30d");
      else await step.waitForEvent("returned", { event: "shop/returned", match: "data.order", timeout: "30d" });
      await step.run("close", () => "closed");
    });
  }
};
define(new Idem({ id: "shop" }));
`,
  );
  const path = join(folder, "shop.db");
  const { Idem } = await import("../node_modules/idem/modules/index.js");
  const store = openInlineStore({
    path,
    migrations: loadMigrations(),
    clock: nodePlatform,
    owner: "deploy:time",
    synchronous: "NORMAL",
  });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const idem = new Idem({ id: "shop", store, platform: nodePlatform, logger: silent, radar: false });
  process.env.IDEM_STORE = "memory:";
  const { define } = await import(program);
  define(idem);
  await idem.start();
  for (let i = 0; i < count; i += 500) {
    const events = Array.from({ length: Math.min(500, count - i) }, (_, j) => ({
      name: `shop/${["bill", "ship", "thank"][(i + j) % 3]}`,
      data: { order: i + j, customer: `customer-${i + j}` },
    }));
    await idem.send(events);
    await idem.idle();
  }
  await idem.stop();
  const beganAt = performance.now();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      join(root, "packages", "idem", "bin", "idem.mjs"),
      "check-deploy",
      program,
      "--store",
      path,
      "--json",
      "--sample",
      values.sample ?? String(count),
    ],
    { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  const tookMs = performance.now() - beganAt;
  if (status !== 0) throw new Error(`it ended with ${status}: ${stderr}${stdout}`);
  const { summary } = JSON.parse(stdout);
  console.log(
    `${summary.checked} of ${summary.open} open runs checked, ${summary.goesOn} go on: ${(tookMs / 1_000).toFixed(1)} s from its start to its end, ${(summary.tookMs / 1_000).toFixed(1)} s of them with runs; ${process.version}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
