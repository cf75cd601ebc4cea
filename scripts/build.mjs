// Builds packages/idem into dist: the plain SQL files, and beside them types and code by the compiler, which writes also what it complains
// about; the dashboard's pages into dist/dashboard; then the programs that are compiled against it. The output is written over, never
// removed first: a reader of dist (a running example) never finds it gone. What an earlier build left and this one did not make goes afterwards,
// or it would be published. packages/eslint-plugin is compiled the same way into a dist of its own.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { billOfMaterials } from "./sbom.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const idem = join(root, "packages", "idem");
const plugin = join(root, "packages", "eslint-plugin");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

/** The files it made. */
function compile(project) {
  const told = spawnSync(process.execPath, [tsc, "-p", project, "--listEmittedFiles"], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const made = /^TSFILE: (.*)$/;
  const lines = told.stdout.split("\n");
  const complaints = lines.filter((line) => line !== "" && !made.test(line));
  if (complaints.length > 0) console.log(complaints.join("\n"));
  if (told.status !== 0) process.exit(told.status ?? 1);
  return lines.flatMap((line) => made.exec(line)?.slice(1) ?? []);
}

async function buildPages() {
  const { output } = await build({
    configFile: join(root, "packages", "dashboard", "vite.config.ts"),
    logLevel: "warn",
  });
  return output.map(({ fileName }) => join(idem, "dist", "dashboard", fileName));
}

/** The plain files beside the code. */
function copyPlain() {
  const plain = readdirSync(join(idem, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.[cm]?ts$/.test(entry.name))
    .map((entry) => relative(join(idem, "src"), join(entry.parentPath, entry.name)));
  return plain.map((path) => {
    const copy = join(idem, "dist", path);
    cpSync(join(idem, "src", path), copy);
    return copy;
  });
}

/** What is read beside the package: its README, and the pages that it and the errors name. */
function copyPages() {
  rmSync(join(idem, "docs"), { recursive: true, force: true });
  const isText = (path) => !path.includes("screenshots");
  for (const name of ["README.md", "CHANGELOG.md", "SECURITY.md", "llms.txt", "docs"])
    cpSync(join(root, name), join(idem, name), { recursive: true, filter: isText });
  // The plugin's only page: its links to others of these would lead nowhere.
  const lint = readFileSync(join(root, "docs", "lint.md"), "utf8").replace(/\[([^\]]+)\]\((?!#)[^)]+\)/g, "$1");
  mkdirSync(join(plugin, "docs"), { recursive: true });
  writeFileSync(join(plugin, "docs", "lint.md"), lint);
}

function removeAllBut(made, dist) {
  const kept = new Set(made.map((path) => resolve(path)));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

copyPages();
const sbom = join(idem, "dist", "sbom.cdx.json");
const made = [...copyPlain(), ...compile(join(idem, "tsconfig.build.json")), ...(await buildPages()), sbom];
writeFileSync(sbom, billOfMaterials());
removeAllBut(made, join(idem, "dist"));
removeAllBut(compile(join(plugin, "tsconfig.build.json")), join(plugin, "dist"));
for (const program of ["sim", "torture", "siege", "bench", "acceptance/app"]) {
  const project = join(root, program, "tsconfig.json");
  if (existsSync(project)) compile(project);
}
