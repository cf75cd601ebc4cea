// What is published of the compiled modules: a file for each entry point, which is what people import or a thread is started with, and few files that these share
// (`parts`). A program loads three of them where it loaded 362 modules. No module is in two files, whichever entries are loaded: classes are compared, and a store
// has one lock. docs/decisions/0042-parts-instead-of-modules.md.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";

// Who loads what together. A module is put beside the others that the same of these need, so that a part never imports one that imports it.
const programs = {
  main: ["index"],
  // Loaded when a store is opened.
  engine: ["engine/engine"],
  // SQLite in the caller's own thread: commands, ":memory:". The store's thread has a file of its own.
  sqlite: ["store/sqlite/inline-store"],
  serve: ["serve", "node", "express", "fastify", "hono", "next", "nestjs", "sveltekit", "lambda", "bun"],
  toolkit: ["sql", "http", "webhooks", "toolkit", "serverless"],
  radar: ["sdk/watch-duplicates", "sdk/send-to-channel"],
  stories: ["sdk/explain-api"],
  server: ["server"],
  postgres: ["store/postgres/postgres-store"],
  memory: ["store/memory/store"],
  cli: ["cli/main"],
};

/** The part of a module that these programs need. */
function partOf(needed) {
  const isIn = (name) => needed.includes(name);
  const isFirst = isIn("main") || isIn("engine");
  if (!isFirst) return isIn("sqlite") ? "sqlite" : needed.join("-");
  // Apps that are called by a server, and handlers with an Idempotency-Key, never open a store of their own.
  if (isIn("serve") || isIn("toolkit")) return isIn("main") ? "client" : "steps";
  return isIn("main") ? "main" : "engine";
}

/** By module, the programs that load it without being asked for anything. */
function neededBy(modules, infoOf) {
  const needed = new Map();
  for (const [program, entries] of Object.entries(programs)) {
    const open = entries.map((entry) => join(modules, `${entry}.js`));
    const seen = new Set();
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (seen.has(id) || !id.startsWith(modules + sep)) continue;
      seen.add(id);
      needed.set(id, [...(needed.get(id) ?? []), program]);
      open.push(...infoOf(id).importedIds);
    }
  }
  return needed;
}

/** Files that nobody imports, and that are loaded by their address: threads, hooks, programs of their own. */
function startedByName(modules) {
  return readdirSync(modules, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .flatMap((name) => [
      ...readFileSync(join(modules, name), "utf8").matchAll(/\b(?:startThread|builtFile)\("([^"]+)"/g),
    ])
    .map(([, entry]) => entry);
}

// Libraries that are in the package themselves, each loaded when something of it is first asked for: programs pay for what they use. Versions are those of the
// lock file; licences are written beside them.
const inside = { cel: "@marcbachmann/cel-js", re2: "re2js" };
const names = Object.keys(inside);

/**
 * What `import defer` will be: `import * as cel from "…"` costs nothing until a name of it is used, which then is there at once, without a promise. A bundler does
 * not see what is required later: it takes the other file (`imports` in package.json), and puts the libraries where the rest is.
 */
const deferred = {
  name: "deferred",
  transform: (code) =>
    names.reduce((text, name) => {
      const whole = new RegExp(`^import \\* as (\\w+) from "${inside[name]}";$`, "m");
      return text.replace(whole, `import { ${name} as $1 } from "#libraries";`);
    }, code),
};

/** Of a library that is inside, in the form in which the pages have theirs. */
function licenceOf(name) {
  const folder = join(import.meta.dirname, "..", "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `## ${name} - ${version} (${license})\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
}

const libraryFiles = {
  "libraries.js": [
    'import { createRequire } from "node:module";',
    "const require = createRequire(import.meta.url);",
    "const later = (load) => new Proxy({}, { get: (_, name) => load()[name] });",
    ...names.map((name) => `export const ${name} = later(() => require("./${name}.cjs"));`),
  ],
  "libraries-bundled.js": names.map((name) => `export * as ${name} from "./${name}.cjs";`),
};

/** A package, or a module of Node itself; an entry is neither. */
const isElsewhere = (id, importer) => importer !== undefined && (isBuiltin(id) || !/^[./\\]|^[A-Za-z]:/.test(id));

/** A file of its own, of everything that its entry needs: nothing has to be found while it loads. */
async function wholeFile({ input, dist, file, cwd }) {
  const build = await rolldown({ input, cwd, platform: "node", external: isElsewhere });
  const { output } = await build.write({
    dir: dist,
    format: "cjs",
    exports: "named",
    entryFileNames: file,
    codeSplitting: false,
  });
  await build.close();
  return output.map(({ fileName }) => fileName);
}

const typesOf = (modules, entries) => {
  const open = entries.map((entry) => join(modules, `${entry}.d.ts`));
  const found = new Set();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const [, to] of readFileSync(path, "utf8").matchAll(/\b(?:from|import) ?\(?"(\.[^"]+)\.ts"/g)) {
      open.push(join(path, "..", `${to}.d.ts`));
    }
  }
  return [...found].map((path) => relative(modules, path));
};

/** Writes the files of code into `dist`; gives their paths in it, and those of the declarations in `modules` that the public ones lead to. */
export async function bundle({ modules, dist, publicEntries, commands }) {
  const started = startedByName(modules);
  const threads = started.filter((entry) => entry.endsWith(".cjs"));
  const entries = [...publicEntries, ...commands, ...started.filter((entry) => !threads.includes(entry))];
  const paths = new Map(entries.map((entry) => [join(modules, `${entry}.js`), entry]));
  let needed = null;
  const build = await rolldown({
    input: Object.fromEntries([...paths].map(([path, entry]) => [entry, path])),
    cwd: join(modules, ".."),
    platform: "node",
    plugins: [deferred],
    external: isElsewhere,
    preserveEntrySignatures: "allow-extension",
  });
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    // One deep, as the modules with which the package finds its own files are: platform/package-files.ts.
    chunkFileNames: "parts/[name].js",
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: "parts",
          // What does something when it is loaded stays in its own file, where nobody loads it for something else.
          name: (id, graph) => {
            if (paths.has(id)) return null;
            needed ??= neededBy(modules, (each) => graph.getModuleInfo(each));
            const programs = needed.get(id);
            return programs === undefined ? null : partOf(programs);
          },
        },
      ],
    },
  });
  await build.close();
  const cwd = join(modules, "..");
  const whole = [
    ...names.map((name) => wholeFile({ input: inside[name], dist, file: `parts/${name}.cjs`, cwd })),
    ...threads.map((file) => {
      const input = join(modules, file.replace(/\.cjs$/, ".js"));
      return wholeFile({ input, dist, file: `parts/${file.replaceAll("/", "-")}`, cwd });
    }),
  ];
  const libraries = Object.entries(libraryFiles).map(([name, lines]) => {
    writeFileSync(join(dist, "parts", name), `${lines.join("\n")}\n`);
    return `parts/${name}`;
  });
  const licences = ["# Licences of what is in `parts`\n", ...Object.values(inside).map(licenceOf)];
  writeFileSync(join(dist, "licenses.md"), licences.join("\n"));
  const code = [
    ...output.map(({ fileName }) => fileName),
    ...(await Promise.all(whole)).flat(),
    ...libraries,
    "licenses.md",
  ];
  return { code, types: typesOf(modules, publicEntries) };
}
