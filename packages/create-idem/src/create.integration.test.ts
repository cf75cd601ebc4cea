// npm create idem: every form, made in a folder of its own, compiled against the built package, and its own test run. `npm run create` installs and starts them.
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { hasSqlite, refusalOf, type Store, stores, type Template, templates } from "./form.ts";
import { create } from "./main.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

function place() {
  const cwd = mkdtempSync(join(tmpdir(), "idem-create-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const said = { out: "", err: "" };
  const run = (args: readonly string[], answers: readonly string[] | null = null) => {
    const left = [...(answers ?? [])];
    return create(args, {
      cwd,
      nodeVersion: "24.21.0",
      out: (line) => {
        said.out += `${line}\n`;
      },
      err: (line) => {
        said.err += `${line}\n`;
      },
      ask: answers === null ? null : async () => left.shift() ?? "",
    });
  };
  const read = (path: string) => readFileSync(join(cwd, path), "utf8");
  return { cwd, run, said, read, files: (folder: string) => filesIn(join(cwd, folder)) };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

const forms = templates.flatMap((template) => stores.map((store): [Template, Store] => [template, store]));

test.each(forms)(
  "%s on %s has code, test, verify, lint, pipeline and README, and compiles",
  async (template, store) => {
    const { cwd, run, read, files } = place();
    expect(await run(["shop", "--template", template, "--store", store, "--yes"])).toBe(0);
    const code = template === "next" ? "lib" : "src";
    const made = files("shop");
    const always = [".github/workflows/idem.yml", ".gitignore", ".oxlintrc.json", "README.md", "idem.verify.ts"];
    const own = ["functions.ts", "functions.test.ts", "idem.ts", "payments.ts"].map((name) => `${code}/${name}`);
    expect(made).toEqual(expect.arrayContaining([...always, ...own, "package.json", "tsconfig.json"]));
    expect(made.includes(".env.example")).toBe(store === "postgres");
    const { scripts, dependencies, devDependencies } = JSON.parse(read("shop/package.json"));
    expect(scripts).toMatchObject({ test: "vitest run", verify: "idem verify", lint: "oxlint" });
    expect(Object.keys(dependencies).includes("pg")).toBe(store === "postgres");
    expect(Object.keys(dependencies)).toContain("idem");
    expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(["eslint-plugin-idem", "oxlint", "@swc/wasm"]));
    for (const command of ["npm install", "npm test", "npm run verify"])
      expect(read("shop/README.md")).toContain(command);
    for (const [, named] of read("shop/README.md").matchAll(/`((?:src|lib)\/[\w.]+)`/g)) expect(made).toContain(named);

    // Of the store only the client speaks, which is the same for all but Next.js.
    if (store === "postgres" && (template === "express" || template === "hono")) return;
    symlinkSync(join(root, "node_modules"), join(cwd, "shop", "node_modules"), "junction");
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const told = spawnSync(process.execPath, [tsc, "-p", ".", "--noEmit"], {
      cwd: join(cwd, "shop"),
      encoding: "utf8",
    });
    expect(told.stdout).toBe("");
  },
);

test("the plain form's own test delivers twice and passes; it fails where the function has no key", async () => {
  const { cwd, run, read } = place();
  expect(await run(["shop", "--yes"])).toBe(0);
  const folder = join(cwd, "shop");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  // Beside it, the same without its key.
  mkdirSync(join(folder, "keyless"));
  for (const name of ["functions.ts", "functions.test.ts"]) {
    const text = read(`shop/src/${name}`).replace(', idempotency: "event.data.orderId"', "");
    writeFileSync(join(folder, "keyless", name), text);
  }
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const told = spawnSync(process.execPath, [vitest, "run", "--reporter", "json"], { cwd: folder, encoding: "utf8" });
  const { testResults } = JSON.parse(told.stdout) as { testResults: { name: string; status: string }[] };
  const statuses = testResults.map(({ name, status }) => [name.split("/").at(-2), status]).sort();
  expect(statuses).toEqual([
    ["keyless", "failed"],
    ["src", "passed"],
  ]);
});

test("what a terminal asks is what the flags say; an empty answer is the default", async () => {
  const { run, said, read } = place();
  expect(await run([], ["my-shop", "hono", ""])).toBe(0);
  expect(said.out).toContain("template hono, store sqlite");
  expect(said.out).toMatch(/cd my-shop\n {2}npm install\n {2}npm test\n {2}npm start\n/);
  expect(JSON.parse(read("my-shop/package.json"))).toMatchObject({
    name: "my-shop",
    dependencies: { hono: "^4.13.17" },
  });
});

test("without a terminal and without a folder nothing is guessed; --yes is my-app", async () => {
  const { run, said, files } = place();
  expect(await run([])).toBe(2);
  expect(said.err).toContain("Name a folder, or --yes for my-app.");
  expect(await run(["--yes"])).toBe(0);
  expect(files("my-app").length).toBeGreaterThan(8);
});

test("a folder with something in it is refused and left as it is; one with only .git is taken", async () => {
  const { cwd, run, said, files } = place();
  mkdirSync(join(cwd, "shop"));
  writeFileSync(join(cwd, "shop", "mine.txt"), "mine");
  writeFileSync(join(cwd, "file"), "");
  expect(await run(["shop", "--yes"])).toBe(2);
  expect(said.err).toMatch(/shop is not empty \(mine\.txt\)\. .*npx idem init/);
  expect(files("shop")).toEqual(["mine.txt"]);
  expect(await run(["file", "--yes"])).toBe(2);
  mkdirSync(join(cwd, "new", ".git"), { recursive: true });
  expect(await run(["new", "--yes"])).toBe(0);
  expect(await run(["new", "--yes"])).toBe(2);
});

test.each([
  [["Shop", "--yes"], /"Shop" cannot be the name/],
  [["shop", "--template", "django"], /--template is "django"; it is one of plain, express, hono, next/],
  [["shop", "--store", "mysql"], /--store is "mysql"/],
  [["shop", "--force"], /Unknown option '--force'/],
  [["a", "b"], /one folder, and not 2/],
])("%s is refused in words, and nothing is made", async (args, words) => {
  const { run, said, files } = place();
  expect(await run(args)).toBe(2);
  expect(said.err).toMatch(words);
  expect(files(".")).toEqual([]);
});

test("names are those npm takes", () => {
  for (const name of ["shop", "my-shop_2", "a.b"]) expect([name, refusalOf(name)]).toEqual([name, null]);
  for (const name of ["", "Shop", ".shop", "-x", "a b", "ä", "@me/shop", "node_modules", "idem", "x".repeat(101)])
    expect([name, refusalOf(name) === null]).toEqual([name, false]);
});

test("better-sqlite3 is a dependency where the Node it is made with has no SQLite that is new enough", () => {
  const without = ["20.20.2", "22.22.2", "23.11.0", "24.14.9"];
  const within = ["22.22.3", "22.23.0", "24.15.0", "25.0.0"];
  expect(without.filter(hasSqlite)).toEqual([]);
  expect(within.filter((version) => !hasSqlite(version))).toEqual([]);
});

test("what is published is one file that loads nothing but Node, and its command works", () => {
  const main = readFileSync(join(root, "packages/create-idem/dist/main.js"), "utf8");
  // Templates have imports of their own, further down.
  const head = /^(?:import .*\n|\/\/.*\n)+/.exec(main)![0];
  const imported = [...head.matchAll(/ from "([^"]+)"/g)].map(([, name]) => name!);
  expect(imported.length).toBeGreaterThan(2);
  expect(imported.filter((name) => !name.startsWith("node:"))).toEqual([]);
  const cwd = mkdtempSync(join(tmpdir(), "idem-create-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const bin = join(root, "packages/create-idem/bin/create-idem.mjs");
  const out = execFileSync(process.execPath, [bin, "shop", "--store", "postgres", "--yes"], { cwd, encoding: "utf8" });
  expect(out).toContain("cp .env.example .env");
  expect(filesIn(join(cwd, "shop"))).toContain(".env.example");
});
