// npm run first-hour [-- this node22 node24 bun deno] [--time]
//
// The first hour with Idem, on every runtime: packs the package, installs it in an empty folder by the line that the README has for that runtime, and does what the README
// and the quick-start of one's own process say, as they print it. Says how many packages and megabytes came, and how long a program takes from
// its first import to its first durable run; `--time` refuses more than is promised, on an idle machine. Needs the network (and, for better-sqlite3 on this Node, a minute or two of compiling).
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chosen, install, root } from "../../runtimes/runtimes.mjs";

const page = (path) => readFileSync(join(root, path), "utf8");
const programOf = (text) => /```js\n(.*?)```/s.exec(text)[1];
const readme = page("README.md");
const quickstart = page("docs/quickstarts/embedded.md");
// As the quick-start prints it, after its program.
const printed = /```sh\nnode app\.mjs\n```\n\n```\n(.*?)```/s.exec(quickstart)[1].trim().split("\n");
/** The README's lines, by what is installed. */
const lines = [...readme.matchAll(/^npm install (idem(?: better-sqlite3)?) +#/gm)].map(([, names]) => names.split(" "));

const firstRunMsMax = 150;
const isTimed = process.argv.includes("--time");
// From the program's own first import, the process's start not counted: that is the runtime's.
const timed = `
const began = performance.now();
const { Idem } = await import("idem");
const idem = new Idem({ id: "timed" });
idem.createFunction({ id: "f", idempotency: "event.data.n" }, { event: "e" }, ({ step }) => step.run("s", () => 1));
await idem.start();
const { decisions } = await idem.send({ name: "e", data: { n: Math.random() } });
await idem.runs.wait(decisions[0].runId);
console.log(performance.now() - began);
await idem.stop();
`;

function expectThat(what, holds, found) {
  if (!holds) throw new Error(`${what}:\n${typeof found === "string" ? found : JSON.stringify(found)}`);
}

function megabytes(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes / 1e6;
}

function start({ path, run }, folder, args, killAt) {
  return new Promise((resolve) => {
    const child = spawn(path, [...run, ...args], { cwd: folder });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        out += text;
        if (killAt?.test(out)) child.kill("SIGKILL");
      });
    }
    child.on("close", () => resolve(out));
  });
}

async function firstHour(runtime) {
  const folder = mkdtempSync(join(tmpdir(), "idem-first-hour-"));
  const npm = (...args) =>
    execFileSync("npm", [...args, "--loglevel=error", "--no-audit", "--no-fund"], {
      cwd: folder,
      encoding: "utf8",
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "inherit"],
    });
  try {
    npm("init", "-y");
    const packing = ["pack", "--ignore-scripts", "--pack-destination", folder, join(root, "packages", "idem")];
    const tarball = npm(...packing)
      .trim()
      .split("\n")
      .at(-1);
    const [plain, withDriver] = lines;
    const names = runtime.driver === null && !hasSqlite() ? withDriver : plain;
    const began = performance.now();
    npm("install", ...names.map((name) => (name === "idem" ? `./${tarball}` : name)));
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    const { packages } = JSON.parse(readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8"));
    const size = `${Object.keys(packages).length} packages, ${megabytes(join(folder, "node_modules")).toFixed(0)} MB, ${seconds} s`;

    // The README: twice, and killed half-way.
    writeFileSync(join(folder, "app.mjs"), programOf(readme));
    const killed = await start(runtime, folder, ["app.mjs"], /^duplicate-key key 7/m);
    expectThat("the README's program, killed", /^started$/m.test(killed) && !/completed/.test(killed), killed);
    for (const time of ["after the kill", "once more"]) {
      const out = await start(runtime, folder, ["app.mjs"]);
      expectThat(
        `the README's program, ${time}`,
        !/drafting/.test(out) && /output: ["']in_1["']/.test(out) && !/warning/i.test(out),
        out,
      );
    }
    rmSync(join(folder, ".idem"), { recursive: true });

    // The quick-start, as printed.
    writeFileSync(join(folder, "app.mjs"), programOf(quickstart));
    const first = (await start(runtime, folder, ["app.mjs"])).trim().split("\n");
    expectThat("the quick-start's program", JSON.stringify(first) === JSON.stringify(printed), first);
    const again = await start(runtime, folder, ["app.mjs"]);
    expectThat("again", /first: duplicate-key, again: duplicate-key\ncompleted ch_1/.test(again), again);
    await start(runtime, folder, ["app.mjs", "2"], /again: duplicate-key/);
    const resumed = await start(runtime, folder, ["app.mjs", "2"]);
    expectThat("order 2 after a kill", !/charging/.test(resumed) && /completed ch_2/.test(resumed), resumed);
    const cli = (...args) => start(runtime, folder, [join("node_modules", "idem", "bin", "idem.mjs"), ...args]);
    const runs = await cli("runs");
    expectThat("idem runs", (runs.match(/confirm-order/g) ?? []).length >= 2, runs);
    const why = await cli("explain", "2");
    expectThat("idem explain 2", /confirm-order/.test(why) && !/no such|nothing/i.test(why), why);
    const health = await cli("doctor");
    expectThat("idem doctor", !/✗|error/i.test(health), health);

    writeFileSync(join(folder, "timed.mjs"), timed);
    const times = [];
    for (let i = 0; i < 5; i++) times.push(Number((await start(runtime, folder, ["timed.mjs"])).trim()));
    const ms = Math.min(...times);
    expectThat(`from import to the first durable run in ${firstRunMsMax} ms`, !isTimed || ms <= firstRunMsMax, times);
    console.log(`${runtime.name}  ok  ${size}, import to first durable run ${ms.toFixed(0)} ms (best of 5)`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of the Node that runs this. */
function hasSqlite() {
  const [major, minor, patch] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 15) || (major === 22 && minor * 100 + patch >= 2203);
}

install();
for (const runtime of chosen(process.argv.slice(2).filter((name) => name !== "--time"))) {
  try {
    await firstHour(runtime);
  } catch (error) {
    process.exitCode = 1;
    console.log(`${runtime.name}  FAILED  ${error.message}`);
  }
}
