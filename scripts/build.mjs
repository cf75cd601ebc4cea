// Builds packages/idem into dist: the plain SQL files, and beside them types and code by the compiler, which writes also what it complains
// about; the dashboard's pages into dist/dashboard; then the programs that are compiled against it. The output is written over, never removed first: a reader of dist (a running
// example) never finds it gone.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const idem = join(root, "packages", "idem");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

function compile(project) {
  const { status } = spawnSync(process.execPath, [tsc, "-p", project], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

cpSync(join(idem, "src"), join(idem, "dist"), { recursive: true, filter: (path) => !/\.[cm]?ts$/.test(path) });
compile(join(idem, "tsconfig.build.json"));
// With Vite's own quiet words: warnings and errors.
await build({ configFile: join(root, "packages", "dashboard", "vite.config.ts"), logLevel: "warn" });
for (const program of ["sim", "torture", "bench", "acceptance/app"]) {
  const project = join(root, program, "tsconfig.json");
  if (existsSync(project)) compile(project);
}
