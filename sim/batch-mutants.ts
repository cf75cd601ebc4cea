// npm run proof -- mutants, or node sim/dist/batch-mutants.js [--only <part of a name>] [--sequences <number>] [--engine <folder>]: proof that the differential of PostgreSQL's batches bites.
// Deliberate defects, one at a time, in a copy of the built engine. The fixed seeds of proof/seeds.json must catch each of them, and so does `npm test`; with
// `--sequences` as many others from the first one on.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Defect, planted } from "./defect.ts";
import { builtEngine, root } from "./engine.ts";
import { batchDefects } from "./postgres/batch-defects.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    sequences: { type: "string" },
    engine: { type: "string", default: builtEngine },
  },
});

const test = "packages/idem/src/store/postgres/batches-equal-operations.test.ts";
// Beside the packages the engine imports, so that the copies find them.
const folder = join(root, "node_modules", ".cache", "idem-batch-mutants");

const chosen = batchDefects.filter(({ name }) => values.only === undefined || name.includes(values.only));
const escaped: string[] = [];
for (const defect of chosen) {
  const found = difference(plant(defect));
  if (found === null) escaped.push(defect.name);
  console.log(`${(found === null ? "NOT CAUGHT" : "npm test").padEnd(14)} ${defect.name.padEnd(78)} ${found ?? ""}`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${chosen.length - escaped.length} of ${chosen.length} defects of batches caught by the differential`);
if (escaped.length > 0) process.exitCode = 1;

/** The difference that the test reports; null where there is none. */
function difference(engine: string): string | null {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join("node_modules", "vitest", "vitest.mjs"), "run", "--project", "idem", test],
    {
      cwd: root,
      encoding: "utf8",
      env: {
        ...process.env,
        NO_COLOR: "1",
        IDEM_DIFFERENTIAL_ENGINE: engine,
        ...(values.sequences === undefined ? {} : { IDEM_DIFFERENTIAL_SEQUENCES: values.sequences }),
      },
    },
  );
  if (status === 0) return null;
  const line = /Seed \d+: batch and operation differ.*/.exec(stderr)?.[0];
  if (line === undefined) throw new Error(`The test failed for another reason:\n${stdout}${stderr}`);
  return line;
}

/** A copy of the engine with the defect in it. */
function plant({ name, patches }: Defect): string {
  const copy = join(folder, name.replaceAll(/[^a-z]+/g, "-"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(values.engine, copy, { recursive: true });
  writeFileSync(join(copy, "package.json"), '{ "type": "module" }');
  for (const patch of patches) {
    const path = join(copy, patch.file);
    writeFileSync(path, planted(name, patch, readFileSync(path, "utf8")));
  }
  return copy;
}
