// npm run proof -- mutants [--only <part of a name>]: plants every deliberate defect, one at a time, and prints the tier that catches it first: `npm test`,
// `npm run test:integration` or `npm run proof`. A defect that nothing catches is a hole in the net.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = values.only === undefined ? [] : ["--only", values.only];
const root = join(import.meta.dirname, "..");
const lists = [
  ["engine and stores, by the simulator", "sim/dist/mutants.js"],
  ["batches of PostgreSQL, by the differential", "sim/dist/batch-mutants.js"],
  ["verifier, by its corpus", "verify-corpus/mutants.mjs"],
];
for (const [about, program] of lists) {
  console.log(`\n${about}`);
  const { status } = spawnSync(process.execPath, [program, ...chosen], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
