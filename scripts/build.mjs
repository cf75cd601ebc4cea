// Builds packages/idem twice: into `modules`, types and code by the compiler, a file for each of ours, which simulator, torture, benches and tests look into; and of these
// into `dist`, which is published: entries and parts (bundle.mjs), the declarations that they lead to, the plain SQL files, the dashboard's pages. Then the programs
// that are compiled against it. The output is written over, never removed first: a reader of it (a running example) never finds it gone. What an earlier build left and this
// one did not make goes afterwards, or it would be published. packages/eslint-plugin is compiled into a dist of its own, packages/create-idem into one file.
// A build of the same sources is not made again (`--force` makes it), so that every command can ask for one.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { build } from "vite";
import { bundle } from "./bundle.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const idem = join(root, "packages", "idem");
const modules = join(idem, "modules");
const dist = join(idem, "dist");
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
  return output.map(({ fileName }) => join(dist, "dashboard", fileName));
}

/** The plain files beside the code, but for what only tests start. */
const plainFiles = () =>
  readdirSync(join(idem, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.[cm]?ts$|\.suite\./.test(entry.name))
    .map((entry) => relative(join(idem, "src"), join(entry.parentPath, entry.name)));

const copyAll = (paths, from, to) =>
  paths.map((path) => {
    cpSync(join(from, path), join(to, path));
    return join(to, path);
  });

/** Of the compiled modules, what is published. */
async function buildParts() {
  const { exports: entries } = JSON.parse(readFileSync(join(idem, "package.json"), "utf8"));
  const publicEntries = Object.values(entries).flatMap(
    (entry) => /^\.\/dist\/(.*)\.js$/.exec(entry.default)?.[1] ?? [],
  );
  const { code, types } = await bundle({ modules, dist, publicEntries, commands: ["cli/main"] });
  return [...code.map((path) => join(dist, path)), ...copyAll(types, modules, dist)];
}

const pages = ["README.md", "CHANGELOG.md", "SECURITY.md", "llms.txt", "docs"];

/** What is read beside the package: its README, and the pages that it and the errors name. */
function copyPages() {
  rmSync(join(idem, "docs"), { recursive: true, force: true });
  const isText = (path) => !path.includes("screenshots");
  for (const name of pages) cpSync(join(root, name), join(idem, name), { recursive: true, filter: isText });
  // The plugin's only page: its links to others of these would lead nowhere.
  const lint = readFileSync(join(root, "docs", "lint.md"), "utf8").replace(/\[([^\]]+)\]\((?!#)[^)]+\)/g, "$1");
  mkdirSync(join(plugin, "docs"), { recursive: true });
  writeFileSync(join(plugin, "docs", "lint.md"), lint);
}

/** One file with what it shares with `idem init`: it is fetched anew for every project, and brings nothing along. */
async function buildCreate() {
  const folder = join(root, "packages", "create-idem");
  const made = await rolldown({ input: join(folder, "src", "main.ts"), platform: "node", external: /^node:/ });
  await made.write({ file: join(folder, "dist", "main.js"), format: "es" });
  await made.close();
}

function removeAllBut(made, folder) {
  const kept = new Set(made.map((path) => resolve(path)));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

const copies = new Set([...pages.map((name) => join(idem, name)), join(plugin, "docs")]);
const programs = ["sim", "torture", "siege", "bench", "acceptance/app"];

/** Of everything that a build reads. Tests are compiled by no part of it. */
function fingerprintOfSources() {
  const hash = createHash("sha256").update(process.version);
  const add = (path) => hash.update(relative(root, path)).update("\0").update(readFileSync(path)).update("\0");
  const made = new Set(["node_modules", "dist", "modules", ".git", ".idem", ".cache"]);
  const isRead = (name) => !/\.(test|suite)\.tsx?$/.test(name);
  const addAll = (folder) => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!made.has(entry.name) && !copies.has(path)) addAll(path);
      } else if (entry.isFile() && isRead(entry.name) && !copies.has(path)) add(path);
    }
  };
  for (const folder of ["packages", "docs", "scripts", ...programs]) addAll(join(root, folder));
  for (const name of ["package.json", "package-lock.json", "README.md", "CHANGELOG.md", "SECURITY.md", "llms.txt"])
    add(join(root, name));
  return hash.digest("hex");
}

const outputs = [
  dist,
  modules,
  join(plugin, "dist"),
  ...programs.map((program) => join(root, program.replace("/app", ""), "dist")),
];
// In a folder that is not published.
const stamp = join(modules, ".built-from");
const fingerprint = fingerprintOfSources();
const isBuilt =
  outputs.every((folder) => existsSync(folder)) && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint;
if (isBuilt && !process.argv.includes("--force")) process.exit(0);

copyPages();
const plain = plainFiles();
removeAllBut([...compile(join(idem, "tsconfig.build.json")), ...copyAll(plain, join(idem, "src"), modules)], modules);
const sbom = join(dist, "sbom.cdx.json");
const made = [...copyAll(plain, join(idem, "src"), dist), ...(await buildParts()), ...(await buildPages()), sbom];
writeFileSync(sbom, billOfMaterials());
removeAllBut(made, dist);
removeAllBut(compile(join(plugin, "tsconfig.build.json")), join(plugin, "dist"));
await buildCreate();
for (const program of programs) compile(join(root, program, "tsconfig.json"));
writeFileSync(stamp, fingerprint);
