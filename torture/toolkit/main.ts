// npm run proof -- crash-toolkit [--seeds 1000] [--from 1] [--jobs 2]
import { parseArgs } from "node:util";
import { Progress } from "../report.ts";
import { matrixReport, runMatrix } from "./matrix.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run proof -- crash-toolkit         kills a process at every boundary of a request's store calls, for each way to be behind a key
  --seeds N   how many; 1,000 unless given
  --from N    the first seed; a violation names its own, to be repeated with --from N --seeds 1
  --jobs N    side by side; 2 unless given`);
  process.exit(0);
}

function number(option: "seeds" | "from" | "jobs"): number {
  const value = Number(values[option]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${option} must be a whole number above 0`);
  return value;
}

const seeds = number("seeds");
const progress = new Progress("seeds", seeds);
const startedAt = Date.now();
const results = await runMatrix({
  seeds,
  from: number("from"),
  jobs: number("jobs"),
  onSeed: ({ plan, violations }) => {
    progress.step();
    for (const violation of violations) console.log(`VIOLATED by seed ${plan.seed}: ${violation}`);
  },
});
progress.end();
console.log(matrixReport(results));
console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s`);
process.exitCode = results.some(({ violations }) => violations.length > 0) ? 1 : 0;
