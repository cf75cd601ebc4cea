// The published package, looked at as npm would pack it. Needs the build, as `npm test` makes it.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { expect, onTestFinished, test } from "vitest";
import { billOfMaterials } from "../../../scripts/sbom.mjs";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path: string): string => readFileSync(join(folder, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly imports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly publishConfig: unknown;
};

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

const packed = (() => {
  const out = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const told = JSON.parse(out) as readonly Packed[] | Readonly<Record<string, Packed>>;
  return Object.values(told)[0]!.files.map(({ path }) => path);
})();

/** Where a thread is that has everything in one file. */
const wholeFile = (name: string): string => `dist/parts/${name.replaceAll("/", "-")}`;

/** The modules that a file of the package is made of, as the bundler names them. */
const modulesIn = (path: string): string[] =>
  [...read(path).matchAll(/^\/\/ modules\/(.+)\.js$/gm)].map(([, name]) => name!);

/** Every file that an entry point leads to: by an import, as a thread, as a type. */
function reached(): Set<string> {
  const found = new Set<string>();
  const open = [
    ...Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : Object.values(entry))),
    ...Object.values(manifest.bin),
  ].map((path) => posix.normalize(path));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (!packed.includes(path)) continue;
    const text = read(path);
    for (const [, to] of text.matchAll(/\b(?:from|import|require|new URL) ?\(?"(\.[^"]+\.c?[jt]s)"/g)) {
      open.push(posix.join(posix.dirname(path), to!.replace(/(?<!\.d)\.ts$/, ".d.ts")));
    }
    for (const [, started] of text.matchAll(/\b(?:startThread|builtFile)\("([^"]+)"/g))
      open.push(started!.endsWith(".cjs") ? wholeFile(started!) : `dist/${started}.js`);
    for (const [, name] of text.matchAll(/\bfrom "(#[^"]+)"/g))
      open.push(...Object.values(manifest.imports[name!] ?? {}).map((path) => posix.normalize(path)));
  }
  return found;
}

test("the package holds its entry points with all they lead to, the pages, the migrations, and nothing else", () => {
  const found = reached();
  const codes = packed.filter((path) => /^(dist\/(?!dashboard\/).*\.c?js|bin\/.*)$/.test(path));
  expect(codes.filter((path) => !found.has(path))).toEqual([]);
  expect([...found].filter((path) => !packed.includes(path))).toEqual([]);
  const others = packed.filter((path) => !codes.includes(path));
  const known = [
    /^(package\.json|LICENSE|README\.md|CHANGELOG\.md|SECURITY\.md|llms\.txt)$/,
    /^docs\/((decisions|reference|quickstarts)\/)?[\w-]+\.(md|svg)$/,
    /^dist\/store\/(sqlite|postgres)\/migrations\/\d{4}_\w+\.sql$/,
    /^dist\/toolkit\/sql\/tables\/(sqlite|postgres)\/\w+\.sql$/,
    /^dist\/dashboard\/(index\.html|licenses\.md|assets\/[\w.-]+\.(js|css|svg))$/,
    /^dist\/(sbom\.cdx\.json|licenses\.md)$/,
  ];
  expect(others.filter((path) => !found.has(path) && !known.some((each) => each.test(path)))).toEqual([]);
});

test("the pages that its errors and its code name are published with it", () => {
  const named = packed
    .filter((path) => /^(dist\/(?!dashboard\/).*\.js|README\.md)$/.test(path))
    .flatMap((path) => [...read(path).matchAll(/\bdocs\/(?:\w+\/)?[\w-]+\.md/g)].map(([page]) => page));
  expect(named.length).toBeGreaterThan(20);
  expect([...new Set(named)].filter((page) => !packed.includes(page))).toEqual([]);
});

test("nothing that is published names a file that is not, or a folder of the machine it was built on", () => {
  const root = join(folder, "..", "..");
  const texts = packed
    .filter((path) => /\.(m?js|d\.ts|json|html|css|md)$/.test(path))
    .map((path) => [path, read(path)]);
  expect(texts.filter(([, text]) => text!.includes("sourceMappingURL=")).map(([path]) => path)).toEqual([]);
  expect(texts.filter(([, text]) => text!.includes(root)).map(([path]) => path)).toEqual([]);
  const page = read("dist/dashboard/index.html");
  const asked = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, path]) => `dist/dashboard/${path}`);
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter((path) => !packed.includes(path))).toEqual([]);
});

test("no module is in two files: whichever entries a program loads, there is one of each class, and one owner of a store", () => {
  const all = packed.filter((path) => /^dist\/(?!dashboard\/).*\.js$/.test(path)).flatMap(modulesIn);
  expect(all.length).toBeGreaterThan(500);
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
});

test("a store's thread is one file, which compiles no expression; what is started by its address is in no part, so that nothing else starts it", () => {
  const parts = packed.filter((path) => /^dist\/parts\/.*\.js$/.test(path));
  const threads = packed.filter((path) => /^dist\/parts\/.*thread\.cjs$/.test(path));
  expect(threads.sort()).toEqual(["read-thread", "thread"].map((name) => wholeFile(`store/sqlite/${name}.cjs`)).sort());
  expect(
    parts
      .flatMap(modulesIn)
      .filter((name) => packed.includes(`dist/${name}.js`) || packed.includes(wholeFile(`${name}.cjs`))),
  ).toEqual([]);
  for (const text of threads.map(read)) {
    expect(text).not.toMatch(/modules\/model\/expression\.js|cel-js|re2js/);
    const required = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name!);
    expect(required.length).toBeGreaterThan(3);
    expect(required.filter((name) => !isBuiltin(name))).toEqual([]);
  }
});

test("a bundler finds no file to look for in what applications import: Turbopack ends a build where one is not found", () => {
  const own = [...reached()].filter((path) => /^dist\/(?!cli\/|verify\/).*\.js$/.test(path));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((path) => /new URL\([^;]*,\s*import\.meta\.url/.test(read(path)))).toEqual([]);
});

test("what most programs never use is not loaded with the package: no radar, no stories, no server, no driver", () => {
  const program = `
    import { register } from "node:module";
    import { MessageChannel } from "node:worker_threads";
    const { port1, port2 } = new MessageChannel();
    const hooks = "let port; export const initialize = (data) => { port = data.port; };" +
      "export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };";
    register("data:text/javascript," + encodeURIComponent(hooks), { data: { port: port2 }, transferList: [port2] });
    const loaded = [];
    port1.on("message", (url) => loaded.push(url));
    await import(process.argv[1]);
    await import("data:text/javascript,export const last = 1");
    while (!loaded.some((url) => url.endsWith("last = 1"))) await new Promise(setImmediate);
    console.log(JSON.stringify(loaded));
    process.exit(0);`;
  const run = ["--input-type=module", "--eval", program, pathToFileURL(join(folder, "dist/index.js")).href];
  const loaded = JSON.parse(execFileSync(process.execPath, run, { cwd: folder, encoding: "utf8" })) as string[];
  const own = loaded.flatMap((url) => /\/idem\/(dist\/.*)$/.exec(url)?.[1] ?? []);
  expect(own.length).toBeLessThan(6);
  const modules = own.flatMap(modulesIn);
  expect(modules.length).toBeGreaterThan(100);
  const late =
    /^(radar|stories|server|cli|toolkit|verify|store\/memory)\/|^store\/(sqlite\/core|postgres\/postgres-store)$/;
  expect(modules.filter((name) => late.test(name))).toEqual([]);
  const packages = /\/node_modules\/(better-sqlite3|pg|ws|zod|@bufbuild)\//;
  expect(loaded.filter((url) => packages.test(url))).toEqual([]);
});

/** Functions with a path, with a comparison and with a pattern; says after each which files were required. */
const threeExpressions = `
  import Module from "node:module";
  import { basename } from "node:path";
  import { Idem } from "idem";
  const idem = new Idem({ id: "shop", store: "memory:" });
  const make = (id, options, trigger) => {
    idem.createFunction({ id, ...options }, { event: "e", ...trigger }, () => 1);
    console.log(id, Object.keys(Module._cache).map((path) => basename(path)).sort().join(" "));
  };
  make("path", { idempotency: "event.data.n" }, {});
  make("comparison", {}, { if: "event.data.n > 1" });
  make("pattern", {}, { if: "event.name.matches('^e+$')" });`;

test("what expressions need is loaded by the first that is more than a path, what patterns need by the first pattern", () => {
  const run = ["--input-type=module", "--eval", threeExpressions];
  const out = execFileSync(process.execPath, run, { cwd: folder, encoding: "utf8" });
  expect(out.trim().split("\n")).toEqual(["path ", "comparison cel.cjs", "pattern cel.cjs re2.cjs"]);
});

test("a bundle of a program has everything that its expressions need, away from every node_modules", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "idem-bundled-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  const input = join(folder, "program.js");
  const program = {
    name: "program",
    resolveId: (id: string) => (id === input ? id : null),
    load: (id: string) => (id === input ? threeExpressions : null),
    // Whatever is loaded later: this program comes to none of it.
    resolveDynamicImport: () => false as const,
  };
  const build = await rolldown({ input, platform: "node", plugins: [program] });
  await build.write({ dir: elsewhere, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" });
  await build.close();
  const out = execFileSync(process.execPath, [join(elsewhere, "program.mjs")], { encoding: "utf8" });
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0]),
  ).toEqual(["path", "comparison", "pattern"]);
});

test("CommonJS requires what others import, every entry of it: there is never a second copy", () => {
  // A module loaded before a process's own code (`node --import`) is waited for, and nobody requires it.
  const others = ["./package.json", "./verify/watch"];
  const entries = Object.keys(manifest.exports).filter((name) => !others.includes(name));
  const program = `
    const names = process.argv.slice(1).map((entry) => entry.replace(/^\\./, "idem"));
    Promise.all(names.map(async (name) => (await import(name)) === require(name))).then((same) =>
      console.log(JSON.stringify(names.filter((_, i) => !same[i]))));`;
  const run = ["--input-type=commonjs", "--eval", program, ...entries];
  const out = execFileSync(process.execPath, run, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(entries.length).toBeGreaterThan(5);
  expect(JSON.parse(out)).toEqual([]);
});

test("where the library for e-mail is not installed, sending one says what to install", () => {
  // Away from every node_modules.
  const elsewhere = mkdtempSync(join(tmpdir(), "idem-package-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  copyFileSync(join(folder, "modules/platform/send-mail.js"), join(elsewhere, "send-mail.mjs"));
  const program = `
    import { canMail, sendMail } from "./send-mail.mjs";
    const mail = { url: "smtp://mail.example", from: "a@example.com", to: [], subject: "", text: "", messageId: "" };
    const refused = await sendMail(mail, { connectMsMax: 1, silenceMsMax: 1 }).catch((error) => error.message);
    console.log(JSON.stringify([await canMail(), refused]));`;
  const run = ["--input-type=module", "--eval", program];
  const out = execFileSync(process.execPath, run, { cwd: elsewhere, encoding: "utf8" });
  expect(JSON.parse(out)).toEqual([false, expect.stringContaining("npm install nodemailer")]);
});

test("what the package imports it declares, and what it declares it imports", () => {
  const imported = new Set<string>();
  const written =
    /^(?:import|export) (?:[^"';]* from )?"([^".][^"]*)"|^(?!\s*(?:\/\/|\*)).*\bimport\("([^".][^"]*)"\)/gm;
  for (const path of packed.filter((each) => /^dist\/(?!dashboard\/).*(\.js|\.d\.ts)$/.test(each))) {
    for (const [, fixed, late] of read(path).matchAll(written)) {
      const [scope, name] = (fixed ?? late!).split("/");
      if (!isBuiltin(fixed ?? late!) && !scope!.startsWith("#"))
        imported.add(scope!.startsWith("@") ? `${scope}/${name}` : scope!);
    }
  }
  const { dependencies, peerDependencies } = manifest;
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...imported].filter((name) => !declared.includes(name))).toEqual([]);
  // One that is looked for by name (where the user's own installation has it) is named in a constant.
  const isNamed = (name: string) => packed.some((path) => path.endsWith(".js") && read(path).includes(`"${name}"`));
  // Found in the process, where the user's own program has put it (docs/decisions/0046-open-telemetry-is-looked-up.md).
  expect(declared.filter((name) => !imported.has(name) && !isNamed(name))).toEqual(["@opentelemetry/api"]);
});

test("it is published with provenance: npm takes it only from a build whose source can be named", () => {
  expect(manifest.publishConfig).toEqual({ access: "public", provenance: true });
});

test("the bill of materials has every package that reaches a user, by version, digest and licence, and is the same each time", () => {
  const text = billOfMaterials();
  expect(text).toBe(billOfMaterials());
  expect(read("dist/sbom.cdx.json")).toBe(text);
  const { components, dependencies } = JSON.parse(text) as {
    readonly components: readonly Readonly<Record<string, unknown>>[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  };
  const lacking = components.filter(({ version, hashes, licenses }) => !version || !hashes || !licenses);
  expect(lacking.map(({ name }) => name)).toEqual([]);
  const names = components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([...Object.keys(manifest.dependencies), "react", "uplot", "re2js", "@marcbachmann/cel-js"]),
  );
  const beside = components.filter(({ properties }) => JSON.stringify(properties).includes("installed beside"));
  expect(read("../../docs/dependencies.md")).toContain(`installs ${beside.length} others`);
  const refs = components.map((each) => each["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
});
