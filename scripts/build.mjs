// Builds packages/idem into dist: types and code by the compiler, then the plain SQL files beside them.
// The output is written over, never removed first: a reader of dist (a running example) never finds it gone.
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const idem = join(root, "packages", "idem");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

const built = spawnSync(process.execPath, [tsc, "-p", join(idem, "tsconfig.build.json")], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
cpSync(join(idem, "src"), join(idem, "dist"), {
  recursive: true,
  filter: (path) => !/\.[cm]?ts$/.test(path),
});
