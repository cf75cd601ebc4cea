// Facts about the repository that a reviewer would otherwise check again by hand. Each failure says what to do.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { allowedNondeterminism } from "./allowed-nondeterminism.suite.ts";
import { errorTable } from "./model/errors.ts";
import { filesOfTests, findNondeterminism } from "./nondeterminism.suite.ts";
import { checksumOf } from "./store/schema-history.ts";
import { releasedTables } from "./toolkit/sql/tables.ts";

const src = dirname(fileURLToPath(import.meta.url));
const root = join(src, "..", "..", "..");

const notOurs = new Set(["node_modules", "dist", "modules", ".git"]);

function filesUnder(folder: string, ending: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : filesUnder(path, ending);
    return entry.isFile() && ending.test(entry.name) ? [path] : [];
  });
}

const sources = filesUnder(src, /\.ts$/)
  .filter((path) => !/\.(test|suite)\.ts$/.test(path) && !path.includes(`${sep}contract${sep}`))
  .map((path) => ({ path: relative(src, path).split(sep).join("/"), text: readFileSync(path, "utf8") }));

const withoutComments = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/\s\/\/ .*$/gm, "");

describe("rooms", () => {
  // A room may import what stands on its line and nothing else of this package (style: imports point down).
  const mayImport: Record<string, readonly string[]> = {
    model: ["model"],
    platform: ["platform"],
    dedup: ["dedup", "model"],
    flow: ["flow", "dedup", "model"],
    protocol: ["protocol", "flow", "model"],
    "store contract": ["flow", "model", "store contract"],
    "store plugs": ["store plugs", "store contract", "flow", "model", "platform"],
    ingest: ["ingest", "flow", "dedup", "model", "store contract"],
    schedule: ["schedule", "flow", "dedup", "model", "store contract"],
    execute: ["execute", "protocol", "flow", "dedup", "model", "store contract", "platform"],
    observe: ["observe", "protocol", "flow", "dedup", "model", "store contract", "platform"],
    engine: [
      "engine",
      "ingest",
      "schedule",
      "execute",
      "observe",
      "protocol",
      "dedup",
      "flow",
      "model",
      "store contract",
      "platform",
    ],
    radar: ["radar", "observe", "flow", "dedup", "model", "store contract"],
    stories: ["stories", "radar", "engine", "observe", "flow", "dedup", "model", "store contract"],
    sdk: [
      "sdk",
      "stories",
      "radar",
      "engine",
      "execute",
      "ingest",
      "observe",
      "protocol",
      "dedup",
      "flow",
      "model",
      "platform",
      "store contract",
      "store plugs",
    ],
    toolkit: [
      "toolkit",
      "sdk",
      "engine",
      "execute",
      "observe",
      "protocol",
      "dedup",
      "flow",
      "model",
      "platform",
      "store contract",
      "store plugs",
    ],
    serve: [
      "serve",
      "sdk",
      "engine",
      "execute",
      "ingest",
      "observe",
      "protocol",
      "flow",
      "dedup",
      "model",
      "platform",
      "store contract",
    ],
    server: [
      "mcp",
      "server",
      "stories",
      "toolkit",
      "sdk",
      "radar",
      "engine",
      "execute",
      "observe",
      "protocol",
      "dedup",
      "flow",
      "model",
      "platform",
      "store contract",
    ],
    testing: [
      "testing",
      "toolkit",
      "sdk",
      "engine",
      "execute",
      "observe",
      "flow",
      "model",
      "platform",
      "store contract",
      "store plugs",
    ],
    verify: [
      "verify",
      // An app's world has a server of its own.
      "server",
      "serve",
      "protocol",
      "radar",
      "toolkit",
      "sdk",
      "engine",
      "execute",
      "observe",
      "dedup",
      "flow",
      "model",
      "platform",
      "store contract",
      "store plugs",
    ],
    mcp: ["mcp", "model"],
    harness: ["harness", "cli", "verify", "toolkit", "sdk", "model", "platform"],
    cli: [
      "cli",
      "mcp",
      "verify",
      "stories",
      "server",
      "toolkit",
      "radar",
      "sdk",
      "engine",
      "execute",
      "observe",
      "dedup",
      "flow",
      "model",
      "platform",
      "store contract",
      "store plugs",
    ],
  };
  // The files the contract's own types lead to, and the clock that every store shows.
  const contract = new Set(["store/clock.ts"]);
  const addContract = (path: string): void => {
    if (contract.has(path)) return;
    contract.add(path);
    const { text } = sources.find((source) => source.path === path)!;
    for (const [, file] of text.matchAll(/from "\.\/([\w-]+\.ts)"/g)) addContract(`store/${file}`);
  };
  addContract("store/store.ts");
  const roomOf = (path: string): string => {
    if (contract.has(path)) return "store contract";
    if (path.startsWith("store/")) return "store plugs";
    return path.includes("/") ? path.split("/")[0]! : "entry point";
  };

  test("every suite of the store's contract runs on every store", () => {
    const folder = join(src, "store", "contract");
    const all = readFileSync(join(folder, "all.ts"), "utf8");
    const listed = all.slice(all.indexOf("const suites = ["), all.indexOf("];"));
    const forgotten = readdirSync(folder).filter((name) => {
      const suite = `${name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(".suite.ts", "")}Suite`;
      return name.endsWith(".suite.ts") && !listed.includes(`  ${suite},\n`);
    });
    expect(forgotten).toEqual([]);
  });

  test("an operation that each database does in its own way stands in a file of the same name in both", () => {
    const operationsOf = (path: string): Map<string, string> => {
      const { text } = sources.find((source) => source.path === path)!;
      const table = text.slice(text.indexOf("const operations: Operation = {"));
      const own = table.slice(0, table.indexOf("};")).matchAll(/^ {2}(\w+): (\w+),$/gm);
      return new Map(
        [...own].map(([, name, made]) => [name!, new RegExp(`\\b${made}\\b.* from "\\./(.*)";`).exec(text)?.[1] ?? ""]),
      );
    };
    const sqlite = operationsOf("store/sqlite/core.ts");
    const postgres = operationsOf("store/postgres/postgres-store.ts");
    // PostgreSQL takes in many calls at once; what becomes of each is a rule.
    expect(postgres.get("ingest")).toBe("ingest-batch.ts");
    postgres.delete("ingest");
    expect(sqlite.size).toBeGreaterThan(0);
    expect(postgres).toEqual(sqlite);
  });

  test("every file stands in a room that is known here", () => {
    const rooms = new Set(sources.map(({ path }) => roomOf(path)));
    rooms.delete("entry point");
    expect([...rooms].filter((room) => mayImport[room] === undefined)).toEqual([]);
  });

  // A client of a server elsewhere knows what it answers: as types, of which nothing is there at run time.
  const answersOfServer = /^import type \{[^}]*\} from "\.\.\/server\/api\/api-table\.ts";$/gm;
  // A function's configuration has its options.
  const optionsOfFunction = /^import type \{ FlowConfig \} from "\.\.\/flow\/options\.ts";$/m;

  test("imports point down: model ← dedup ← stages ← engine ← what users touch, and no stage knows another", () => {
    const wrong: string[] = [];
    for (const { path, text } of sources) {
      const room = roomOf(path);
      if (room === "entry point") continue;
      for (const [, target] of text
        .replaceAll(answersOfServer, "")
        .replace(optionsOfFunction, "")
        .matchAll(/from "(\.[^"]+)"/g)) {
        const to = roomOf(posix.normalize(posix.join(posix.dirname(path), target!)));
        if (!mayImport[room]!.includes(to)) wrong.push(`${path} (${room}) imports ${target} (${to})`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("the rules of the store know no database, and the store they are compared with does not know them", () => {
    const wrong: string[] = [];
    for (const { path, text } of sources) {
      const isRule = path.startsWith("store/rules/");
      if (!isRule && !path.startsWith("store/memory/")) continue;
      for (const [, target] of text.matchAll(/from "(\.[^"]+)"/g)) {
        const to = posix.normalize(posix.join(posix.dirname(path), target!));
        const others = isRule ? /^store\/(sqlite|postgres|memory|transfer)\// : /^store\/(sqlite|postgres|rules)\//;
        if (others.test(to)) wrong.push(`${path} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("no two files of the store need each other to be loaded", () => {
    const needs = new Map<string, string[]>();
    for (const { path, text } of sources) {
      if (!path.startsWith("store/")) continue;
      // A type import is gone when the program runs.
      const imports = [...text.matchAll(/^import (?!type )(?:\{([^}]*)\}|[\w* ]+) from "(\.[^"]+)";/gm)];
      const loaded = imports.filter(
        ([, names]) => !(names ?? "x").split(",").every((name) => /^\s*(type .*)?$/.test(name)),
      );
      needs.set(
        path,
        loaded.map(([, , target]) => posix.normalize(posix.join(posix.dirname(path), target!))),
      );
    }
    const circle = [...needs.keys()].filter((path) => {
      const reached = new Set<string>();
      const reach = (from: string): void => {
        for (const target of needs.get(from) ?? []) {
          if (reached.has(target)) continue;
          reached.add(target);
          reach(target);
        }
      };
      reach(path);
      return reached.has(path);
    });
    expect(circle).toEqual([]);
  });

  test("what is loaded only when it is needed stands below, too; the one asked from beneath is the dashboard's", () => {
    const wrong: string[] = [];
    for (const { path, text } of sources) {
      const room = roomOf(path);
      if (room === "entry point") continue;
      for (const [, target] of withoutComments(text).matchAll(/\bimport\("(\.[^"]+)"\)/g)) {
        const to = posix.normalize(posix.join(posix.dirname(path), target!));
        if (path === "sdk/open-dashboard.ts" && to === "server.ts") continue;
        if (!mayImport[room]!.includes(roomOf(to))) wrong.push(`${path} (${room}) loads ${target} (${roomOf(to)})`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("of this package the dashboard's pages take types, words, and code that needs nothing else of it", () => {
    const importsOf = (path: string, from: RegExp): string[] =>
      [...readFileSync(path, "utf8").matchAll(/^(?:import|export) (?!type)[^;]*? from "([^"]+)"/gm)]
        .filter(([, target]) => from.test(target!))
        .map(([, target]) => join(dirname(path), target!));
    const pages = filesUnder(join(root, "packages", "dashboard", "src"), /\.tsx?$/);
    // Words are made of words.
    const taken = new Set(pages.flatMap((path) => importsOf(path, /\/idem\/src\//)));
    for (const path of taken) if (path.endsWith("words.ts")) for (const word of importsOf(path, /^\./)) taken.add(word);
    const wrong = [...taken].filter((path) =>
      path.endsWith("words.ts") ? importsOf(path, /^[^.]/).length > 0 : importsOf(path, /./).length > 0,
    );
    expect(taken.size).toBeGreaterThan(0);
    expect(wrong.map((target) => relative(src, target))).toEqual([]);
  });

  test("a flow option is a folder: read, planned, put into words, described and tested there, and no option knows another", () => {
    const folders = readdirSync(join(src, "flow"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const wrong = folders.flatMap(({ name }) =>
      ["config.ts", "plan.ts", "words.ts", "shape.ts", `${name}.test.ts`]
        .map((file) => `flow/${name}/${file}`)
        .filter((path) => !existsSync(join(src, path))),
    );
    expect(folders.length).toBeGreaterThan(5);
    expect(wrong).toEqual([]);
    const others = sources.filter(
      ({ path, text }) => /^flow\/[\w-]+\//.test(path) && /from "\.\.\/[\w-]+\//.test(text),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test("a relative import names a file, with its ending", () => {
    const wrong = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/from "(\.[^"]+)"/g)]
        .filter(([, to]) => !to!.endsWith(".ts"))
        .map(([, to]) => `${path}: ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  test("no file is named after nothing", () => {
    const vague = sources.filter(({ path }) =>
      /(^|\/)(utils?|helpers?|common|misc|shared|types|index)(\.ts|\/)/.test(path),
    );
    expect(vague.map(({ path }) => path)).toEqual(["index.ts"]);
  });
});

describe("the platform is the only way to the machine", () => {
  const banned: readonly [RegExp, string][] = [
    [/\bDate\.now\(/, "platform.wallMs()"],
    [/\bnew Date\(\)/, "an instant given as an argument"],
    [/\bperformance\./, "platform.monoMs()"],
    [/\bprocess\.hrtime/, "platform.monoMs()"],
    [/\bMath\.random\(/, "platform.randomBytes()"],
    [/\bcrypto\.(random|getRandom)/, "platform.randomBytes()"],
    [/import \{[^}]*\brandom[^}]*\} from "node:crypto"/, "platform.randomBytes()"],
    [/(?<![.\w])set(Timeout|Interval|Immediate)\(/, "platform.timer() or platform.soon()"],
    [/\bAbortSignal\.timeout\(/, "platform.timer()"],
    [/["']@opentelemetry\//, "platform.openTelemetry(): it is looked up and never loaded"],
    [/(?<![.\w])fetch\(/, "platform.fetch()"],
    [
      /^import (?!type).* from "node:(net|http|https|http2|fs|fs\/promises|dns|worker_threads|child_process|os|timers)/m,
      "the platform folder",
    ],
  ];

  // Files whose one job is to be the machine's ear.
  const listeners = ["server/node-listener.ts"];

  test("time, chance, threads, files and network come through it", () => {
    const wrong: string[] = [];
    for (const { path, text } of sources) {
      // The command line is a process of its own, around the engine.
      // The verifier's thread puts worlds in the machine's place.
      // Its apps are processes of this machine.
      const isEdge = ["platform/", "cli/", "verify/worker/", "verify/app/"].some((room) => path.startsWith(room));
      if (isEdge || listeners.includes(path)) continue;
      const code = withoutComments(text);
      for (const [pattern, instead] of banned) {
        const found = code.match(pattern);
        // A method that is named fetch is not the global one.
        if (found !== null && !/\bfetch\((request|first|url)\b/.test(code.slice(found.index!, found.index! + 20))) {
          wrong.push(`${path} uses ${found[0]} — use ${instead}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test("only the real machine has OpenTelemetry: in worlds its spans would bring real time and chance", () => {
    const having = sources.filter(({ text }) => /\bopenTelemetry\b(:| =|\()(?! Pick)/.test(withoutComments(text)));
    expect(having.map(({ path }) => path).filter((path) => !path.startsWith("observe/"))).toEqual([
      "platform/ending-platform.ts",
      "platform/node-platform.ts",
    ]);
  });

  test("process.env and process.exit are read and called at the edge only", () => {
    const wrong = sources.filter(
      ({ path, text }) =>
        !/^(platform|cli)\//.test(path) && /\bprocess\.(env\b|exit\(|argv\b)/.test(withoutComments(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe("tests", () => {
  // They name what they look for.
  const ofThisCheck = /\/src\/(repository-checks\.test|allowed-nondeterminism\.suite)\.ts$/;
  const found = filesOfTests(root)
    .filter((file) => !ofThisCheck.test(file))
    .flatMap((file) => findNondeterminism(file, readFileSync(join(root, file), "utf8")));
  const allowed = allowedNondeterminism.flatMap(({ lines }) =>
    Object.entries(lines).flatMap(([file, texts]) => texts.map((text) => ({ file, text }))),
  );

  test("have no source of chance, read no clock, measure no time and never sleep", () => {
    const wrong = found.filter(
      ({ file, text }) => !allowed.some((line) => line.file === file && text.includes(line.text)),
    );
    expect(wrong.map(({ file, line, text, problem }) => `${file}:${line} ${problem}\n  ${text}`)).toEqual([]);
  });

  test("are allowed no line that they do not have", () => {
    const stale = allowed.filter(
      (line) => !found.some(({ file, text }) => line.file === file && text.includes(line.text)),
    );
    expect(stale).toEqual([]);
  });

  test.each([
    ["const a = Math.random();", "draws by chance"],
    ["const a = globalThis.crypto.randomUUID();", "draws by chance"],
    ['import { randomInt } from "node:crypto";', "draws by chance"],
    ["const { randomBytes } = nodePlatform;", "draws by chance"],
    ['await sql("delete from a where random() < 0.5");', "draws by chance"],
    ["const seed = Date.now();", "reads the machine's clock"],
    ["const a = new Date().toISOString();", "reads the machine's clock"],
    ["const a = performance.now();", "measures real time"],
    ["const a = process.hrtime.bigint();", "measures real time"],
    ["await new Promise((resolve) => setTimeout(resolve, 5));", "sleeps"],
    ['import { setTimeout as delay } from "node:timers/promises";', "sleeps"],
    ["await db.query(`select pg_sleep(1)`);", "sleeps"],
    ["await page.waitForTimeout(100);", "sleeps"],
    ["nodePlatform.timer(300, () => resolve());", "sleeps"],
    ["await expect.poll(read, { timeout: 10_000 }).toBe(1);", "has a shorter bound"],
    ["await vi.waitFor(() => expect(read()).toBe(1));", "waits for a second"],
    ['test("a", { timeout: 30_000 }, async () => {});', "has a shorter bound"],
    ['test.each([1])("a", async () => {}, 30_000);', "has a shorter bound"],
    ["fc.configureGlobal({ numRuns: 3 });", "configures fast-check"],
  ])("%s is found", (text, problem) => {
    expect(findNondeterminism("a.test.ts", text)).toMatchObject([{ problem: expect.stringContaining(problem) }]);
  });

  test("may hold code in strings, wait for conditions and count turns", () => {
    const text = `
      const program = "setTimeout(() => {}, 5); const a = Math.random();";
      const at = new Date(0);
      await new Promise((resolve) => setImmediate(resolve));
      await expect.poll(read, { interval: 5 }).toBe(1);
      const timer = (ms, run) => nodePlatform.timer(ms, run);
      const bytes = platform.randomBytes(5);
      test("a", { timeout: 600_000 }, async () => {});`;
    expect(findNondeterminism("a.test.ts", text)).toEqual([]);
  });
});

describe("what an editor shows", () => {
  /** The members of an interface, each with the comment before it. */
  function membersOf(path: string, name: string): { readonly member: string; readonly comment: string }[] {
    const { text } = sources.find((each) => each.path === path)!;
    const begin = new RegExp(`^export interface ${name}\\b`, "m").exec(text);
    if (begin === null) throw new Error(`${path} has no interface ${name}`);
    const body = text.slice(begin.index, text.indexOf("\n}", begin.index));
    const found = body.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*\n {2}(?:readonly )?(\w+)\??[<:(]/g);
    return [...found].map(([, comment, member]) => ({ member: `${name}.${member}`, comment: comment ?? "" }));
  }

  const withExample: readonly (readonly [string, string])[] = [
    ["sdk/typed-step-tools.ts", "TypedStepTools"],
    ["sdk/function-types.ts", "FunctionOptions"],
    ["flow/options.ts", "FlowWritten"],
  ];
  const described: readonly (readonly [string, string])[] = [
    ...withExample,
    ["sdk/function-types.ts", "IdempotencyOptions"],
    ["sdk/function-types.ts", "UnkeyedOptions"],
    ["sdk/function-types.ts", "EventInput"],
    ["sdk/function-types.ts", "CronInput"],
    ["sdk/function-types.ts", "HandlerContext"],
    ["execute/step-options.ts", "WaitForEventOptions"],
    ["execute/step-options.ts", "WaitForSignalOptions"],
    ["execute/step-options.ts", "InvokeOptions"],
    ["execute/step-options.ts", "SendSignalOptions"],
    ["execute/step-options.ts", "FetchInit"],
    ["execute/step-name.ts", "StepOptions"],
    ["execute/step-name.ts", "LimitedStepOptions"],
    ["execute/effect.ts", "EffectOptionsOf"],
    ["sdk/client-options.ts", "IdemOptions"],
    ["sdk/client-options.ts", "SendOptions"],
    ...["batch", "cancel-on", "concurrency", "debounce", "priority", "rate-limit", "singleton", "throttle"].map(
      (option): readonly [string, string] => [
        `flow/${option}/config.ts`,
        `${option.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Options`,
      ],
    ),
  ];

  test("every step tool and every option has a text, and those of functions and steps an example", () => {
    const all = described.flatMap(([path, name]) => membersOf(path, name));
    expect(all.length).toBeGreaterThan(90);
    expect(all.filter(({ comment }) => comment === "").map(({ member }) => member)).toEqual([]);
    const examples = withExample.flatMap(([path, name]) => membersOf(path, name));
    expect(examples.filter(({ comment }) => !comment.includes("@example")).map(({ member }) => member)).toEqual([]);
  });
});

describe("migrations", () => {
  /** Faults of a folder's files, by the list of those that were on main. */
  const wrongFiles = (folder: string, list: string, listed: ReadonlyMap<string, string>): string[] =>
    filesUnder(join(src, folder), /\.sql$/).flatMap((path) => {
      const name = basename(path, ".sql");
      const checksum = checksumOf(readFileSync(path, "utf8"));
      const known = listed.get(name);
      if (known === checksum) return [];
      return known === undefined
        ? `${list} lacks the line   "${name}": "${checksum}",`
        : `${folder}/${name}.sql was edited: stores have run it as it was on main. Restore it, and write a new file (one that was never on main has the checksum ${checksum} now)`;
    });
  const namesIn = (folder: string) =>
    filesUnder(join(src, folder), /\.sql$/)
      .map((path) => basename(path, ".sql"))
      .sort();

  test.each(["sqlite", "postgres"])(
    "a file of %s that was on main is never edited, and each has its line",
    (database) => {
      const place = `store/${database}`;
      const list = readFileSync(join(src, place, "migrations.ts"), "utf8");
      const listed = new Map(
        [...list.matchAll(/^ {2}"(\d{4}_\w+)": "(\w+)",$/gm)].map(([, name, sum]) => [name!, sum!]),
      );
      expect(wrongFiles(`${place}/migrations`, `${place}/migrations.ts`, listed)).toEqual([]);
      const names = namesIn(`${place}/migrations`);
      expect([...listed.keys()]).toEqual(names);
      expect(names.map((name) => Number.parseInt(name, 10))).toEqual(names.map((_, i) => i + 1));
    },
  );

  test.each(["sqlite", "postgres"] as const)(
    "a table's file of the toolkit for %s that was on main is never edited, and each has its line",
    (dialect) => {
      const folder = `toolkit/sql/tables/${dialect}`;
      const listed = new Map(Object.entries(releasedTables[dialect]));
      expect(wrongFiles(folder, "toolkit/sql/tables.ts", listed)).toEqual([]);
      expect([...listed.keys()].sort()).toEqual(namesIn(folder));
    },
  );
});

describe("documents", () => {
  const read = (path: string) => readFileSync(join(root, path), "utf8");

  test("docs/errors.md lists exactly the codes of model/errors.ts", () => {
    const listed = [...read("docs/errors.md").matchAll(/^## `([A-Z_]+)`/gm)].map(([, code]) => code).sort();
    expect(listed).toEqual(Object.keys(errorTable).sort());
  });

  test("every error says what to do next", () => {
    const silent = Object.entries(errorTable).filter(([, { next }]) => next.length < 10);
    expect(silent.map(([code]) => code)).toEqual([]);
  });

  const testTexts = () =>
    [
      ...filesUnder(src, /\.(test|suite)\.ts$/),
      // Shipped, for stores of others.
      ...filesUnder(join(src, "toolkit", "keys", "conformance"), /\.ts$/),
      ...filesUnder(join(root, "examples"), /\.test\.ts$/),
      ...filesUnder(join(root, "sim"), /\.ts$/),
      ...filesUnder(join(root, "torture"), /\.ts$/),
      ...filesUnder(join(root, "siege"), /\.test\.ts$/),
      ...filesUnder(join(root, "acceptance"), /\.(test|suite)\.ts$/),
    ].map((path) => readFileSync(path, "utf8"));
  const named = (text: string) => [...text.matchAll(/^\s*- test: “([^”]+)”/gm)].map(([, title]) => title!);

  test.each(["docs/guarantees.md", "docs/pitfalls.md"])(
    "every line of %s names a test that exists, by its title",
    (document) => {
      const tests = testTexts();
      const titles = named(read(document));
      expect(titles.length).toBeGreaterThan(20);
      const written = (title: string) => tests.some((text) => text.includes(title));
      expect(titles.filter((title) => !written(title))).toEqual([]);
    },
  );

  test("docs/pitfalls.md has each of the 39 once, and a test for each", () => {
    const [, ...sections] = read("docs/pitfalls.md").split(/^### /m);
    const numbers = sections.map((section) => Number(/^(\d+)\. /.exec(section)?.[1]));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 39 }, (_, i) => i + 1));
    expect(sections.filter((section) => named(section).length === 0)).toEqual([]);
  });

  describe("docs/security.md", () => {
    const [, tables] = read("docs/security.md").split(/^## Bounds$/m);
    const rows = [...(tables ?? "").matchAll(/^\| (?!what|---)(.+) \|$/gm)].map(([, cells]) =>
      cells!.split("|").map((cell) => cell.trim()),
    );

    test("has four cells in each row of its bounds: what, bound, setting, test", () => {
      expect(rows.length).toBeGreaterThan(40);
      expect(rows.filter((cells) => cells.length !== 4).map(([what]) => what)).toEqual([]);
    });

    test("says of each bound the number that stands in the code it names", () => {
      const wrong = rows.flatMap(([what, bound, setting]) => {
        const [, file, name] = /`([\w/-]+\.ts)` `(\w+)`/.exec(setting!) ?? [];
        if (file === undefined) {
          const isNumber = /^[\d,]+\b/.test(bound!);
          return isNumber ? `${what}: name the file and the constant that is ${bound}` : [];
        }
        const value = constantOf(file, name!);
        const said = waysToSay(value).some(
          (way) => ` ${bound} `.match(new RegExp(`[^\\d,.]${way}(?!\\w|,\\d)`)) !== null,
        );
        return said ? [] : `${what}: ${file} has ${name} = ${value}, the page says ${bound}`;
      });
      expect(wrong).toEqual([]);
    });

    test("names a test for each bound, by its title, that exists", () => {
      const tests = testTexts();
      const titlesOf = (cell: string) => [...cell.matchAll(/“([^”]+)”/g)].map(([, title]) => title!);
      expect(rows.filter(([, , , cell]) => titlesOf(cell!).length === 0).map(([what]) => what)).toEqual([]);
      const titles = rows.flatMap(([, , , cell]) => titlesOf(cell!));
      expect(titles.filter((title) => !tests.some((text) => text.includes(title)))).toEqual([]);
    });

    /** A product of numbers and of other constants of the same file, or of one it imports. */
    function constantOf(file: string, name: string): number {
      const text = readFileSync(join(src, file), "utf8");
      const [, written] = new RegExp(`\\b${name}(?: =|:) ([\\w *]+)[,;]$`, "m").exec(text) ?? [];
      if (written === undefined) {
        const [, from] = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(text) ?? [];
        if (from === undefined) throw new Error(`docs/security.md: ${file} has no constant ${name} that can be read`);
        return constantOf(posix.join(posix.dirname(file), from), name);
      }
      const factors = written.split("*").map((factor) => factor.trim());
      return factors
        .map((factor) => (/^\d/.test(factor) ? Number(factor.replaceAll("_", "")) : constantOf(file, factor)))
        .reduce((product, factor) => product * factor, 1);
    }

    const units: readonly (readonly [string, number])[] = [
      ["KiB", 1_024],
      ["MiB", 1_024 ** 2],
      ["ms", 1],
      ["s", 1_000],
      ["min", 60_000],
      ["h", 3_600_000],
      ["days", 86_400_000],
    ];

    /** 2,000 · 256 MiB · 30 s: plainly, or in any unit of which it is a whole number. */
    const waysToSay = (value: number): string[] => [
      value.toLocaleString("en-US"),
      ...units
        .filter(([, size]) => value % size === 0)
        .map(([unit, size]) => `${(value / size).toLocaleString("en-US")} ${unit}`),
    ];
  });

  test("docs/dependencies.md says of each package the manifest names why it is there", () => {
    const manifest = JSON.parse(read("packages/idem/package.json")) as Record<string, Record<string, string>>;
    const [own, inside, brought] = read("docs/dependencies.md").split(/^## /m) as [string, string, string];
    const listed = (part: string) => [...part.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, name]) => name);
    expect(listed(own)).toEqual(Object.keys(manifest.dependencies!).sort());
    const [, libraries] = /const inside = \{([^}]*)\}/.exec(read("scripts/bundle.mjs"))!;
    expect(listed(inside)).toEqual([...libraries!.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
    expect(listed(brought).sort()).toEqual(Object.keys(manifest.peerDependencies!).sort());
    expect(Object.keys(manifest.peerDependenciesMeta!).sort()).toEqual(Object.keys(manifest.peerDependencies!).sort());
  });

  test("decisions are numbered without gap or twin, in their names and their titles", () => {
    const names = readdirSync(join(root, "docs/decisions")).sort();
    const numbers = names.map((name) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(names.map((_, i) => i + 1));
    expect(names.map((name) => Number(/^# (\d+)\./.exec(read(`docs/decisions/${name}`))?.[1]))).toEqual(numbers);
  });

  const pages = [
    ...readdirSync(root).filter((name) => name.endsWith(".md")),
    ...filesUnder(join(root, "docs"), /\.md$/).map((path) => relative(root, path).split(sep).join("/")),
  ];

  /** The anchors of a page's headings, as GitHub makes them. */
  const anchorsOf = (page: string): Set<string> => {
    const anchors = new Set<string>();
    const text = read(page).replace(/^```[\s\S]*?^```/gm, "");
    for (const [, heading] of text.matchAll(/^#+ (.+)$/gm)) {
      const anchor = heading!
        .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-");
      let free = anchor;
      for (let n = 1; anchors.has(free); n++) free = `${anchor}-${n}`;
      anchors.add(free);
    }
    return anchors;
  };

  /** Null where `page#anchor` leads to a file of the repository and a heading of it; else what is missing. */
  const missing = (page: string, anchor: string | undefined): string | null => {
    if (!existsSync(join(root, page))) return `there is no ${page}`;
    return anchor === undefined || !page.endsWith(".md") || anchorsOf(page).has(anchor)
      ? null
      : `${page} has no heading #${anchor}`;
  };

  test("links between documents lead somewhere, to a heading where they name one", () => {
    const broken: string[] = [];
    for (const page of pages) {
      for (const [, target, anchor] of read(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
        if (/^[a-z]+:/.test(target!) || (target === "" && anchor === undefined)) continue;
        const why = missing(target === "" ? page : posix.join(posix.dirname(page), target!), anchor);
        if (why !== null) broken.push(`${page}: ${why}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test("README.md is read in a few minutes: 900 words at most, code and links included", () => {
    expect(read("README.md").trim().split(/\s+/).length).toBeLessThanOrEqual(900);
  });

  test.each(["docs/overview.md", "llms.txt"])("%s names every page", (list) => {
    const named = [...read(list).matchAll(/\]\(([^)#\s]+\.md)\)/g)].map(([, to]) =>
      posix.join(posix.dirname(list), to!),
    );
    const others = pages.filter((page) => page.startsWith("docs/") && !/^docs\/(decisions\/|overview)/.test(page));
    expect(others.filter((page) => !named.includes(page))).toEqual([]);
    expect(named.filter((page) => !existsSync(join(root, page)))).toEqual([]);
  });

  test("a comment that names a page names one that is here, from the root: docs/reference/wire.md#a-call", () => {
    const broken: string[] = [];
    for (const path of filesUnder(root, /\.(ts|tsx|mts|mjs|js|css|sql|yml)$/)) {
      const file = relative(root, path).split(sep).join("/");
      readFileSync(path, "utf8")
        .split("\n")
        .forEach((line, i) => {
          const comment = /^\s*(?:\/\/|\/?\*|--|#)(.*)|\s\/\/ (.*)$/.exec(line);
          if (comment === null) return;
          const told = (why: string) => broken.push(`${file}:${i + 1}: ${why}`);
          const said = comment[1] ?? comment[2]!;
          for (const [, page, anchor] of said.matchAll(/(?<![\w./-])([\w./-]+\.md)(?:#([\w-]+))?\b/g)) {
            const why = missing(page!, anchor);
            if (why !== null) told(why);
          }
          // A section of a page that nobody can open. Standards and pages with an address are another matter.
          const section = /(?<!RFC \d+ |\.\w+\/\S* )§|\bwire page\b|\b(?:inngest-protocol|inngest-features)\b/.exec(
            said,
          );
          if (section !== null) told(`"${section[0]}" leads nowhere: link a heading of docs, or give the reason here`);
        });
    }
    expect(broken).toEqual([]);
  });

  test("a page that a message or docs/errors.md names is there, with its heading, and comes with the package", () => {
    const { files } = JSON.parse(read("packages/idem/package.json")) as { readonly files: readonly string[] };
    // As the build copies them (scripts/build.mjs); a README always comes along.
    const isShipped = (page: string) =>
      page === "README.md" || files.some((each) => page === each || page.startsWith(`${each}/`));
    const named = filesUnder(join(root, "packages/idem/src"), /(?<!\.(test|suite))\.ts$/).flatMap((path) => {
      const file = relative(root, path);
      const text = readFileSync(path, "utf8");
      return [
        ...[...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)].map(([, page, anchor]) => ({
          file,
          page: page!,
          anchor,
        })),
        ...[...text.matchAll(/\bidem docs ([\w/-]+)#([\w-]+)/g)].map(([, page, anchor]) => ({
          file,
          page: `docs/${page}.md`,
          anchor,
        })),
      ];
    });
    const linked = [...read("docs/errors.md").matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
      ([, to, anchor]) => ({
        file: "docs/errors.md",
        page: to === "" ? "docs/errors.md" : posix.join("docs", to!),
        anchor,
      }),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(linked.length).toBeGreaterThan(10);
    const broken = [...named, ...linked].flatMap(({ file, page, anchor }) => {
      const why = missing(page, anchor) ?? (isShipped(page) ? null : `${page} does not come with the package`);
      return why === null ? [] : [`${file}: ${why}`];
    });
    expect([...new Set(broken)]).toEqual([]);
  });

  const pathsIn = (page: string, ending: RegExp): string[] =>
    [...read(page).matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, text]) => text!.split(/\s+/))
      .filter((word) => /^[\w.-]+(\/[\w.-]+)*\/?$/.test(word) && ending.test(word));

  test("every file and folder that AGENTS.md names is there, from the root or from the sources of idem", () => {
    const named = pathsIn("AGENTS.md", /\/|\.(ts|tsx|mjs|md|json|sql|css)$/);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => ![root, src].some((from) => existsSync(join(from, path))))).toEqual([]);
  });

  test("a file that the architecture, a decision or a page of reference names is somewhere under that name", () => {
    const files = filesUnder(root, /\.(ts|tsx|mjs|sql|css)$/).map((path) => path.split(sep).join("/"));
    const wrong = pages
      .filter((page) => page === "ARCHITECTURE.md" || /^docs\/(decisions|reference)\//.test(page))
      .flatMap((page) => pathsIn(page, /\.(ts|tsx|mjs|sql|css)$/).map((path) => ({ page, path })))
      .filter(({ path }) => !files.some((file) => file.endsWith(`/${path}`)));
    expect(wrong).toEqual([]);
  });
});
