// Builds packages/idem into dist: the plain SQL files, and beside them types and code by the compiler, which writes also what it complains
// about; the dashboard's pages into dist/dashboard; then the programs that are compiled against it. The output is written over, never
// removed first: a reader of dist (a running example) never finds it gone.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
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

async function buildPages() {
  const { output } = await build({
    configFile: join(root, "packages", "dashboard", "vite.config.ts"),
    logLevel: "warn",
  });
  // Names change with what is in them; what no page names any more would be published for nothing.
  const made = new Set(output.map(({ fileName }) => fileName));
  const assets = join(idem, "dist", "dashboard", "assets");
  for (const name of readdirSync(assets)) if (!made.has(`assets/${name}`)) rmSync(join(assets, name));
}

cpSync(join(idem, "src"), join(idem, "dist"), { recursive: true, filter: (path) => !/\.[cm]?ts$/.test(path) });
compile(join(idem, "tsconfig.build.json"));
await buildPages();
for (const program of ["sim", "torture", "bench", "acceptance/app"]) {
  const project = join(root, program, "tsconfig.json");
  if (existsSync(project)) compile(project);
}
