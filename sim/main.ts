// npm run proof -- sim --seed 42            one world, with the end of its trace when it fails
// npm run proof -- sim --worlds 10000       many worlds, in as many processes as there are cores
// npm run proof -- sim --worlds 500 --from 7000 [--store postgres] [--jobs 1] [--engine <folder>] [--keep-going] [--off kill,freeze]
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { builtEngine, loadEngine } from "./engine.ts";
import { minimise } from "./minimise.ts";
import { storeModels } from "./plan.ts";
import { runWorld } from "./run-world.ts";
import { runWorlds } from "./run-worlds.ts";
import { addFailedSeed } from "./seeds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    worlds: { type: "string" },
    minutes: { type: "string" },
    from: { type: "string", default: "1" },
    jobs: { type: "string" },
    engine: { type: "string", default: builtEngine },
    off: { type: "string", default: "" },
    store: { type: "string" },
    "keep-going": { type: "boolean", default: false },
    trace: { type: "string", default: "60" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run proof -- sim --seed 42                one world, with the end of its trace when it fails
npm run proof -- sim --worlds 10000           many worlds, from seed 1 on
  --minutes N       as many as begin within so many minutes
  --from N          the first seed
  --jobs N          processes; one per core unless given
  --engine FOLDER   another build of the engine
  --off A,B         without these faults
  --store NAME      sqlite, memory or postgres, whatever the seed says
  --keep-going      past the first failure
  --trace N         how many lines of a failing trace to print
A failing seed is minimised and added to proof/seeds.json, which npm test runs from then on.`);
  process.exit(0);
}

const number = (text: string, option: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${option} must be a whole number, not "${text}"`);
  return value;
};
const off = new Set(values.off.split(",").filter((name) => name !== ""));
const store = storeModels.find((name) => name === values.store);
if (values.store !== undefined && store === undefined) {
  throw new Error(`--store must be one of ${storeModels.join(", ")}, not "${values.store}"`);
}
const settings = { off, ...(store === undefined ? {} : { store }) };

if (values.worlds === undefined && values.minutes === undefined) {
  const seed = number(values.seed ?? values.from, "seed");
  process.exitCode = (await explain(seed)) ? 0 : 1;
} else {
  // More than any number of minutes has room for.
  const worlds = values.worlds === undefined ? 1_000_000 : number(values.worlds, "worlds");
  const from = number(values.seed ?? values.from, "from");
  const jobs = values.jobs === undefined ? availableParallelism() : number(values.jobs, "jobs");
  const startedAt = Date.now();
  const untilMs = values.minutes === undefined ? null : startedAt + number(values.minutes, "minutes") * 60_000;
  let shownAt = 0;
  const done = await runWorlds({
    from,
    worlds,
    jobs,
    engine: values.engine,
    settings: () => settings,
    keepGoing: values["keep-going"],
    isTimeUp: () => untilMs !== null && Date.now() >= untilMs,
    onProgress: (count, failed) => {
      // A terminal is written over; a log gets a line now and then.
      const { isTTY } = process.stderr;
      if (Date.now() - shownAt < (isTTY ? 1_000 : 30_000)) return;
      shownAt = Date.now();
      const rate = count / ((shownAt - startedAt) / 1_000);
      const told = `${count}${untilMs === null ? ` of ${worlds}` : ""} worlds, ${rate.toFixed(1)}/s, ${failed} failed`;
      process.stderr.write(isTTY ? `\r${told} ` : `${told}\n`);
    },
    // Hours may follow: a person who watches can look into it meanwhile.
    onFailure: ({ seed, violations }) => console.log(`\nseed ${seed} VIOLATED ${violations[0]!.check}`),
  });
  const seconds = (Date.now() - startedAt) / 1_000;
  if (process.stderr.isTTY) process.stderr.write("\r");
  for (const [name, count] of Object.entries(done.counts).sort()) console.log(`${String(count).padStart(10)}  ${name}`);
  console.log(
    `${done.worlds} worlds in ${seconds.toFixed(1)} s (${(done.worlds / seconds).toFixed(1)}/s), ` +
      `${Math.round(done.simulatedMs / seconds / 1_000)} × real time, ${done.failures.length} failed`,
  );
  const byCheck = new Map<string, number[]>();
  for (const { seed, violations } of done.failures) {
    for (const check of new Set(violations.map((violation) => violation.check))) {
      byCheck.set(check, [...(byCheck.get(check) ?? []), seed]);
    }
  }
  for (const [check, seeds] of byCheck) console.log(`  ${check}: ${seeds.length} seeds, such as ${seeds.slice(0, 8)}`);
  const first = done.failures[0];
  if (first !== undefined) {
    await explain(first.seed);
    if (values.engine === builtEngine) addFailedSeed(first.seed, first.violations[0]!.check, store);
    process.exitCode = 1;
  }
}

/** Runs one world and tells its story; true when it was clean. */
async function explain(seed: number): Promise<boolean> {
  const engine = await loadEngine(values.engine);
  const traceLines = number(values.trace, "trace");
  const result = await runWorld(engine, { ...settings, seed, traceLines });
  console.log(`seed ${seed}: ${result.about}; trace ${result.hash}, ${Math.round(result.simulatedMs)} ms`);
  const again = await runWorld(engine, { ...settings, seed });
  if (again.hash !== result.hash) console.log(`seed ${seed} is not deterministic: ${again.hash} the second time`);
  if (result.violations.length === 0) return again.hash === result.hash;
  for (const line of result.tail) console.log(line);
  for (const { check, detail } of result.violations.slice(0, 20)) console.log(`VIOLATED ${check}\n         ${detail}`);
  const smallest = await minimise(engine, result, { ...settings, seed });
  console.log(`smallest set of faults that still fails: ${smallest.join(" ") || "none"}`);
  console.log(`again with: npm run proof -- sim --seed ${seed}${store === undefined ? "" : ` --store ${store}`}`);
  return false;
}
