// idem init in small projects, each in a folder of its own; what the linters and the verifier say of one is in packages/eslint-plugin.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeTerminal } from "./fake-terminal.ts";
import { kindOf } from "./init/find-functions.ts";
import { recommendedRules } from "./init/oxlint-config.ts";
import { temporaryFolder } from "./store-world.ts";

const functions =
  'import { idem } from "./client.js";\nidem.createFunction({ id: "f" }, { event: "a/b" }, () => {});\n';

function project(files: Readonly<Record<string, unknown>>, within = "") {
  const root = temporaryFolder();
  const folder = join(root, within);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  const terminal = fakeTerminal({ cwd: folder });
  const all = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((name) => statSync(join(root, name)).isFile())
        .map((name) => [name, readFileSync(join(root, name), "utf8")]),
    );
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return { root, folder, terminal, all, read, manifest: () => JSON.parse(read("package.json")) as any };
}

const fresh = { name: "shop", version: "1.0.0", scripts: { test: 'echo "Error: no test specified" && exit 1' } };

describe("idem init", () => {
  test("makes what npm init leaves into a project that lints and verifies, and tells each file", async () => {
    const { terminal, all, manifest, read } = project({ "package.json": fresh, "src/functions.mjs": functions });
    expect(await terminal.run("init")).toBe(0);
    expect(Object.keys(all()).sort()).toEqual([
      ".github/workflows/idem.yml",
      "eslint.config.mjs",
      "idem.verify.mjs",
      "package.json",
      "src/functions.mjs",
    ]);
    expect(manifest()).toMatchObject({
      scripts: { ...fresh.scripts, verify: "idem verify", lint: "eslint ." },
      devDependencies: { "eslint-plugin-idem": "^0.1.0", eslint: "^10.0.0", "@mswjs/interceptors": "~0.41.9" },
      dependencies: { idem: "^0.1.0" },
    });
    expect(read("idem.verify.mjs")).toContain('"src/functions.mjs"');
    expect(read(".github/workflows/idem.yml")).toMatch(
      /run: npm run lint\n[\s\S]*run: npm run verify -- --reporter sarif --output idem\.sarif\n[\s\S]*sarif_file: "idem\.sarif"/,
    );
    const { out } = terminal.written;
    expect(out).toMatch(/^idem\.verify\.mjs {2}made\n {2}\+ modules: src\/functions\.mjs$/m);
    expect(out).toMatch(/^eslint\.config\.mjs {2}made$/m);
    expect(out).toMatch(
      /^package\.json {2}changed\n {2}\+ scripts\.verify: idem verify\n {2}\+ scripts\.lint: eslint \.$/m,
    );
    expect(out).toMatch(/^\.github\/workflows\/idem\.yml {2}made$/m);
    expect(out).toContain("Now: npm install");
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["from npm init", { "package.json": fresh, "src/functions.mjs": functions }],
    [
      "in TypeScript, with a flat configuration",
      {
        "package.json": { type: "module", devDependencies: { eslint: "^9.1.0", typescript: "^5.0.0" } },
        "tsconfig.json": {},
        "eslint.config.ts": 'import js from "@eslint/js";\n\nexport default [\n  js.configs.recommended,\n];\n',
        "src/a.ts": functions,
        "src/b.ts": functions,
      },
    ],
    [
      "with oxlint",
      {
        "package.json": "{}",
        ".oxlintrc.json": '{\n\t"rules": { "no-debugger": "off" }, // mine\n}\n',
        "a.js": functions,
      },
    ],
    [
      "with scripts and a configuration of its own",
      {
        "package.json": '{"scripts":{"lint":"biome check","verify":"make"}}',
        "eslint.config.js": "export default await load();\n",
        "a.js": functions,
      },
    ],
    ["without a function", { "package.json": "{}" }],
  ])("twice is the same as once: %s", async (_, files) => {
    const { terminal, all } = project(files);
    expect(await terminal.run("init")).toBe(0);
    const once = all();
    expect(await terminal.run("init")).toBe(0);
    expect(all()).toEqual(once);
    expect(terminal.written.out).toContain("Nothing to do.");
    expect(terminal.written.out).not.toMatch(/ {2}(made|changed)$/m);
  });

  test("what is there stays, and is told: scripts, an ESLint configuration that cannot be edited, another workflow", async () => {
    const own = { scripts: { lint: "biome check", verify: "make verify" }, devDependencies: { eslint: "9.0.0" } };
    const files = {
      "package.json": own,
      "eslint.config.js": 'import antfu from "@antfu/eslint-config";\nexport default antfu({});\n',
      ".github/workflows/idem.yml": "name: ours\n",
      "src/functions.js": functions,
    };
    const { terminal, read, manifest } = project(files);
    expect(await terminal.run("init")).toBe(0);
    expect(manifest()).toMatchObject(own);
    expect(read("eslint.config.js")).toBe(files["eslint.config.js"]);
    expect(read(".github/workflows/idem.yml")).toBe("name: ours\n");
    const { out } = terminal.written;
    expect(out).toContain('left: scripts.lint is "biome check" and stays; ours would be "eslint ."');
    expect(out).toContain('left: scripts.verify is "make verify" and stays');
    expect(out).toMatch(
      /eslint\.config\.js {2}left alone\n {2}left: it exports no list .*\n {2}to paste:\n {4}import idem from/,
    );
    expect(out).toMatch(
      /idem\.yml {2}left alone\n.*does not run idem verify\n {2}to paste:[\s\S]*run: npx eslint \.[\s\S]*run: npx idem verify --reporter sarif/,
    );
  });

  test("a configuration of ESLint's old kind is not put out of force by a new one, and an ESLint that is too old is told", async () => {
    const old = project({ "package.json": "{}", ".eslintrc.json": "{}", "a.js": functions });
    expect(await old.terminal.run("init")).toBe(0);
    expect(existsSync(join(old.folder, "eslint.config.mjs"))).toBe(false);
    expect(old.terminal.written.out).toContain("would put the configuration in .eslintrc.json out of force");
    const eight = project({ "package.json": { devDependencies: { eslint: "^8.57.0" } }, "a.js": functions });
    expect(await eight.terminal.run("init")).toBe(0);
    expect(existsSync(join(eight.folder, "eslint.config.mjs"))).toBe(false);
    expect(eight.terminal.written.out).toContain("eslint is ^8.57.0 here, and the plugin needs 9 or later");
  });

  test("--dry-run shows every line and writes nothing", async () => {
    const { terminal, all } = project({ "package.json": fresh, "src/functions.mjs": functions });
    const before = all();
    expect(await terminal.run("init", "--dry-run")).toBe(0);
    expect(all()).toEqual(before);
    expect(terminal.written.out).toMatch(/package\.json {2}would be changed[\s\S]*\+ {5}"verify": "idem verify"/);
    expect(terminal.written.out).toMatch(
      /eslint\.config\.mjs {2}would be made[\s\S]*\+ import idem from "eslint-plugin-idem";/,
    );
    expect(await terminal.json("init", "--dry-run")).toMatchObject({
      files: [{ did: "made" }, { did: "made" }, { file: "package.json", did: "changed" }, { did: "made" }],
      install: "npm install",
    });
  });

  test("TypeScript that ESLint's parser does not know is linted by oxlint; a project of oxlint's keeps it", async () => {
    const { terminal, manifest, read } = project({
      "package.json": { devDependencies: { typescript: "^7.0.2" } },
      "src/functions.ts": functions,
    });
    expect(await terminal.run("init")).toBe(0);
    expect(manifest()).toMatchObject({
      scripts: { lint: "oxlint" },
      devDependencies: { oxlint: "^1.93.0", "@swc/wasm": expect.any(String) },
    });
    expect(Object.keys(JSON.parse(read(".oxlintrc.json")).rules)).toEqual(recommendedRules);
  });

  test("in a folder of a repository the workflow stands at its root and works in the folder, with its package manager", async () => {
    const { root, terminal } = project({ "package.json": "{}", "f.js": functions }, "packages/billing");
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, "pnpm-lock.yaml"), "");
    expect(await terminal.run("init")).toBe(0);
    const workflow = readFileSync(join(root, ".github/workflows/idem-packages-billing.yml"), "utf8");
    expect(workflow).toMatch(/- run: pnpm install --frozen-lockfile\n/);
    expect(workflow).toContain(
      'run: pnpm run verify --reporter sarif --output idem.sarif\n        working-directory: "packages/billing"',
    );
    expect(workflow).toContain('sarif_file: "packages/billing/idem.sarif"');
    expect(terminal.written.out).toContain("Now: pnpm install");
  });

  test("modules that are named are taken; those for the inngest package are told and not verified", async () => {
    const files = {
      "package.json": { dependencies: { inngest: "^4.0.0" } },
      "a.js": functions,
      "b.js":
        'import { inngest } from "./client.js";\ninngest.createFunction({ id: "g" }, { event: "x" }, () => {});\n',
    };
    const found = project(files);
    expect(await found.terminal.run("init")).toBe(0);
    expect(found.terminal.written.out).toMatch(/\+ modules: a\.js\n {2}left: b\.js: written for inngest/);
    const named = project(files);
    expect(await named.terminal.run("init", "b.js")).toBe(0);
    expect(named.read("idem.verify.mjs")).toContain('"b.js"');
    expect(await named.terminal.run("init", "absent.js")).toBe(2);
    expect(kindOf('inngest.createFunction<{ a: 1 }>({ id: "x" })', false)).toBe("idem");
    expect(kindOf("// createFunction", false)).toBeNull();
  });

  test.each<[string, Readonly<Record<string, unknown>>, readonly string[], RegExp]>([
    ["a folder without package.json", {}, [], /There is no package\.json/],
    ["scripts that are none", { "package.json": { scripts: [] } }, [], /cannot be edited: "scripts" is no object/],
    ["a package.json that is none", { "package.json": "{" }, [], /package\.json is not JSON/],
    ["another linter", { "package.json": "{}" }, ["--linter", "tslint"], /--linter is "tslint"/],
  ])("%s is refused, and nothing is written", async (_, files, args, why) => {
    const { terminal, all } = project(files);
    const before = all();
    expect(await terminal.run("init", ...args)).toBe(2);
    expect(terminal.written.err).toMatch(why);
    expect(all()).toEqual(before);
  });

  test("--install runs nothing where nothing is missing", async () => {
    const { terminal, folder } = project({ "package.json": {}, "a.js": functions });
    for (const name of ["eslint", "eslint-plugin-idem", "@mswjs/interceptors", "idem"])
      mkdirSync(join(folder, "node_modules", name), { recursive: true });
    expect(await terminal.run("init", "--install")).toBe(0);
    expect(terminal.written.err).toBe("");
  });
});
