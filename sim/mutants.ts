// npm run mutants [-- --only <part of a name>] [--after <number>] [--worlds <number>] [--jobs <number>] [--store postgres]: proof that the simulator bites. Deliberate defects, one at a time, in a copy of the built engine; each must
// be caught within a bounded number of worlds, and the check that caught it is named.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Defect, modelFolder, planted } from "./defect.ts";
import { defects } from "./defects.ts";
import { builtEngine, root } from "./engine.ts";
import { storeModels } from "./plan.ts";
import { builtSimulator, runWorlds, type WorldsResult } from "./run-worlds.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    after: { type: "string", default: "0" },
    worlds: { type: "string", default: "3000" },
    jobs: { type: "string", default: "2" },
    store: { type: "string" },
    engine: { type: "string", default: builtEngine },
  },
});

// Beside the packages the engine imports, so that the copies find them.
const folder = join(root, "node_modules", ".cache", "idem-mutants");

const chosen = defects
  .slice(Number(values.after))
  .filter(({ name }) => values.only === undefined || name.includes(values.only));
const store = storeModels.find((name) => name === values.store);
const settings = () => (store === undefined ? {} : { store });
const escaped: string[] = [];
const worldsMax = Number(values.worlds);
for (const defect of chosen) {
  const startedAt = Date.now();
  const { worlds, caught } = await hunt(plant(defect));
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  if (caught === undefined) escaped.push(defect.name);
  const by = caught === undefined ? "NOT CAUGHT" : `seed ${caught.seed}: ${caught.violations[0]!.check}`;
  console.log(`${defect.name.padEnd(58)} ${String(worlds).padStart(5)} worlds ${seconds.padStart(6)} s  ${by}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${chosen.length - escaped.length} of ${chosen.length} defects caught`);
if (escaped.length > 0) process.exitCode = 1;

/** Lives worlds until one fails that the healthy engine passes. */
async function hunt(engine: string): Promise<{ worlds: number; caught?: WorldsResult["failures"][number] }> {
  let worlds = 0;
  while (worlds < worldsMax) {
    const done = await runWorlds({
      from: 1 + worlds,
      worlds: worldsMax - worlds,
      jobs: Number(values.jobs),
      engine,
      simulator: existsSync(join(engine, modelFolder)) ? join(engine, modelFolder) : builtSimulator,
      settings,
      keepGoing: false,
    });
    worlds += done.worlds;
    for (const caught of done.failures) {
      const seeds = [caught.seed];
      const one = { from: 0, worlds: 1, seeds, jobs: 1, settings, keepGoing: false };
      const healthy = await runWorlds({ ...one, engine: values.engine });
      if (healthy.failures.length === 0) return { worlds, caught };
    }
  }
  return { worlds };
}

/** A copy of the engine with the defect in it. */
function plant({ name, patches }: Defect): string {
  const copy = join(folder, name.replaceAll(/[^a-z]+/g, "-"));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(values.engine, copy, { recursive: true });
  if (patches.some(({ file }) => file.startsWith(`${modelFolder}/`))) {
    cpSync(builtSimulator, join(copy, modelFolder), { recursive: true });
  }
  writeFileSync(join(copy, "package.json"), '{ "type": "module" }');
  for (const patch of patches) {
    const path = join(copy, patch.file);
    writeFileSync(path, planted(name, patch, readFileSync(path, "utf8")));
  }
  return copy;
}
