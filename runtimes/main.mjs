// npm run runtimes [-- node22 node24 bun deno this] [--only contract,readme,door,torture,sim]
//
// The store's own tests and contract, the README's program with a kill -9 in the middle, idem/bun on Bun, kills of real processes and simulated worlds, each on every
// runtime that npm brings into this folder, over the SQLite that the runtime has. A quarter of an hour and the network, so it has a command of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chosen, install, root } from "./runtimes.mjs";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: "string" } } });

const envOf = ({ driver }) => ({ ...process.env, ...(driver === null ? {} : { IDEM_SQLITE: driver }) });

/** What it said, if it did not end well; null otherwise. */
function failed(runtime, args) {
  const { path, run } = runtime;
  const ended = spawnSync(path, [...run, ...args], { cwd: root, env: envOf(runtime), encoding: "utf8" });
  return ended.status === 0 ? null : `${ended.stdout ?? ""}${ended.stderr ?? ""}${ended.error?.message ?? ""}`;
}

const vitest = join("node_modules", "vitest", "vitest.mjs");

/** The README's program, killed while its run sleeps, then started again and once more: one draft in all. */
async function readme(runtime) {
  const folder = mkdtempSync(join(tmpdir(), "idem-runtimes-"));
  const program = /```js\n(.*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8"))[1];
  writeFileSync(join(folder, "app.mjs"), program);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "dependencies": { "idem": "*" } }\n');
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "packages", "idem"), join(folder, "node_modules", "idem"), "junction");
  const { path, run } = runtime;
  const start = (killAt) =>
    new Promise((resolve) => {
      const child = spawn(path, [...run, "app.mjs"], { cwd: folder, env: envOf(runtime) });
      let out = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (text) => {
          out += text;
          if (killAt?.test(out)) child.kill("SIGKILL");
        });
      }
      child.on("close", () => resolve(out));
    });
  try {
    const outs = [await start(/^duplicate-key key 7/m), await start(), await start()];
    const all = outs.join("\n--\n");
    const isRight =
      (all.match(/drafting for Acme/g) ?? []).length === 1 &&
      /^started$/m.test(outs[0]) &&
      !/completed/.test(outs[0]) &&
      outs.slice(1).every((out) => /^duplicate-key$/m.test(out) && /state: ["']completed["']/.test(out)) &&
      !/warning|error:(?! null)/i.test(all);
    return isRight ? null : all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const checks = {
  contract: (runtime) => failed(runtime, [vitest, "run", "--project", "idem", "packages/idem/src/store/sqlite"]),
  readme,
  // The one runtime with a door of its own.
  door: (runtime) => (runtime.name === "bun" ? failed(runtime, ["runtimes/bun-door.mjs"]) : null),
  torture: (runtime) => failed(runtime, ["torture/dist/main.js", "--short", "--fresh"]),
  sim: (runtime) => failed(runtime, ["sim/dist/main.js", "--worlds", "20", "--store", "sqlite"]),
};

install();
const only = values.only?.split(",") ?? Object.keys(checks);
for (const runtime of chosen(positionals)) {
  for (const name of only) {
    const began = Date.now();
    const told = await checks[name](runtime);
    console.log(
      `${runtime.name}  ${name}  ${told === null ? "ok" : "FAILED"}  ${((Date.now() - began) / 1_000).toFixed(1)} s`,
    );
    if (told === null) continue;
    console.log(told.split("\n").slice(-60).join("\n"));
    process.exitCode = 1;
  }
}
