// npm run proof -- mutants [--only <part of a name>] [--after <number>] [--worlds <number>] [--jobs <number>] [--store postgres]: proof that the simulator bites.
// Deliberate defects, one at a time, in a copy of the built engine. Each must be caught: by a fixed seed of proof/seeds.json, and so by `npm test`, or by
// one of a bounded number of other seeds, and so only by a campaign.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Defect, modelFolder, planted } from "./defect.ts";
import { defects } from "./defects.ts";
import { builtEngine, root } from "./engine.ts";
import { storeModels } from "./plan.ts";
import { builtSimulator, runWorlds, type WorldsResult } from "./run-worlds.ts";
import { fixedSeeds } from "./seeds.ts";

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
const beyondTests: string[] = [];
// The fixed seeds first: what they catch, `npm test` catches.
const fixed = fixedSeeds();
const others = Array.from({ length: Number(values.worlds) }, (_, i) => 1 + i).filter((seed) => !fixed.includes(seed));
for (const defect of chosen) {
  const startedAt = Date.now();
  const { worlds, caught } = await hunt(plant(defect));
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  const tier = caught === undefined ? "NOT CAUGHT" : fixed.includes(caught.seed) ? "npm test" : "npm run proof";
  if (caught === undefined) escaped.push(defect.name);
  else if (tier !== "npm test") beyondTests.push(`${caught.seed} (${defect.name})`);
  const by = caught === undefined ? "" : `seed ${caught.seed}: ${caught.violations[0]!.check}`;
  console.log(
    `${tier.padEnd(14)} ${defect.name.padEnd(62)} ${String(worlds).padStart(5)} worlds ${seconds.padStart(6)} s  ${by}`,
  );
}
rmSync(folder, { recursive: true, force: true });
console.log(`${chosen.length - escaped.length} of ${chosen.length} defects of the engine caught by the simulator`);
if (beyondTests.length > 0)
  console.log(`For npm test to catch them too, add to simulation.seeds of proof/seeds.json: ${beyondTests.join(", ")}`);
if (escaped.length > 0) process.exitCode = 1;

/** Simulates seeds until one fails that the healthy engine passes. */
async function hunt(engine: string): Promise<{ worlds: number; caught?: WorldsResult["failures"][number] }> {
  const seeds = [...fixed, ...others];
  let worlds = 0;
  while (seeds.length > 0) {
    const done = await runWorlds({
      from: 0,
      worlds: seeds.length,
      seeds,
      jobs: Number(values.jobs),
      engine,
      simulator: existsSync(join(engine, modelFolder)) ? join(engine, modelFolder) : builtSimulator,
      settings,
      keepGoing: false,
    });
    worlds += done.worlds;
    for (const caught of done.failures) {
      const one = { from: 0, worlds: 1, seeds: [caught.seed], jobs: 1, settings, keepGoing: false };
      const healthy = await runWorlds({ ...one, engine: values.engine });
      if (healthy.failures.length === 0) return { worlds, caught };
    }
    seeds.splice(0, done.worlds);
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
