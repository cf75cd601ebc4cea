// Finds what makes a test depend on chance, on the machine's clock or on its speed. repository-checks.test.ts reads every test with it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { parseSync } from "vite";

export interface Finding {
  readonly file: string;
  readonly line: number;
  /** The source line, trimmed. */
  readonly text: string;
  readonly problem: string;
}

/** Syntax nodes as ESTree describes them. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";

/** As in vitest.config.ts. A test passes on a machine that is eight times slower. */
const pollMsMin = 60_000;
const testMsMin = 120_000;

const chance = "draws by chance: use a number of proof/seeds.json, a counter or ManualPlatform";
const wallClock = "reads the machine's clock: use ManualClock, or a fixed instant";
const stopwatch = "measures real time: count what the code does, or use ManualClock";
const sleeping =
  "sleeps: wait for the condition with a promise, an event or expect.poll, or count turns with setImmediate";
const ownBound = "has a shorter bound than vitest.config.ts: leave it out, so that a slow machine passes";

const members: Readonly<Record<string, string>> = {
  "Math.random": chance,
  "crypto.getRandomValues": chance,
  "crypto.randomUUID": chance,
  "crypto.randomBytes": chance,
  "crypto.randomInt": chance,
  "nodePlatform.randomBytes": chance,
  "Date.now": wallClock,
  "nodePlatform.wallMs": wallClock,
  "performance.now": stopwatch,
  "nodePlatform.monoMs": stopwatch,
  "process.hrtime": stopwatch,
  "process.uptime": stopwatch,
  "Atomics.wait": sleeping,
  "AbortSignal.timeout": sleeping,
  "scheduler.wait": sleeping,
  "fc.configureGlobal": "configures fast-check: scripts/test-setup.ts does, with the seed of proof/seeds.json",
};

const timers = new Set(["setTimeout", "setInterval"]);

/** Names of modules that must not be imported, and why. */
function problemOfImport(from: string, name: string): string | null {
  if (/^(node:)?crypto$/.test(from)) return /^(random|getRandom|webcrypto)/.test(name) ? chance : null;
  if (/^(node:)?timers(\/promises)?$/.test(from)) return name === "setImmediate" ? null : sleeping;
  return /^(node:)?perf_hooks$/.test(from) ? stopwatch : null;
}

const nameOf = (node: unknown): string | null =>
  isNode(node) && node.type === "Identifier" ? (node.name as string) : null;

/** "a.b" of an expression that is a property of a name, also behind globalThis. */
function memberOf(node: unknown): string | null {
  if (!isNode(node) || node.type !== "MemberExpression" || node.computed === true) return null;
  const object = isNode(node.object) && node.object.type === "MemberExpression" ? node.object.property : node.object;
  const [of, name] = [nameOf(object), nameOf(node.property)];
  return of === null || name === null ? null : `${of}.${name}`;
}

const numberOf = (node: unknown): number | null =>
  isNode(node) && node.type === "Literal" && typeof node.value === "number" ? node.value : null;

const propertyOf = (node: unknown, key: string): unknown =>
  isNode(node) && node.type === "ObjectExpression"
    ? (node.properties as Node[]).find((property) => nameOf(property.key) === key)?.value
    : undefined;

/** The first name of test(…), test.each(…)(…), describe.skipIf(…)(…). */
function rootOf(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === "CallExpression") return rootOf(node.callee);
  return node.type === "MemberExpression" ? rootOf(node.object) : nameOf(node);
}

function problemOfCall(node: Node): string | null {
  const args = node.arguments as Node[];
  const member = memberOf(node.callee);
  const bound = args.slice(1).map((arg) => numberOf(arg) ?? numberOf(propertyOf(arg, "timeout")));
  const isBelow = (min: number) => bound.some((ms) => ms !== null && ms < min);
  if (nameOf(node.callee) === "Date") return wallClock;
  if (member === "nodePlatform.timer") return numberOf(args[0]) === null ? null : sleeping;
  if (member === "expect.poll") return isBelow(pollMsMin) ? ownBound : null;
  if (member === "vi.waitFor" || member === "vi.waitUntil")
    return isBelow(pollMsMin) ||
      !args.slice(1).some((arg) => arg.type === "Literal" || propertyOf(arg, "timeout") !== undefined)
      ? "waits for a second unless told: use expect.poll, which waits as vitest.config.ts says"
      : null;
  if (member === "vi.setConfig")
    return ["testTimeout", "hookTimeout"].some((key) => (numberOf(propertyOf(args[0], key)) ?? testMsMin) < testMsMin)
      ? ownBound
      : null;
  const isTest = /^(test|it|describe|beforeAll|beforeEach|afterAll|afterEach)$/.test(rootOf(node.callee) ?? "");
  return isTest && isBelow(testMsMin) ? ownBound : null;
}

function problemOf(node: Node, parent: Node | null): string | null {
  switch (node.type) {
    case "MemberExpression": {
      const member = memberOf(node);
      if (nameOf(node.property) === "waitForTimeout") return sleeping;
      return member === null
        ? null
        : (members[member] ?? (/^globalThis\.set(Timeout|Interval)$/.test(member) ? sleeping : null));
    }
    case "NewExpression":
      return nameOf(node.callee) === "Date" && (node.arguments as Node[]).length === 0 ? wallClock : null;
    case "CallExpression":
      return problemOfCall(node);
    case "ImportSpecifier": {
      const from = (parent as Node & { source: { value: string } }).source.value;
      return problemOfImport(from, nameOf(node.imported) ?? "");
    }
    case "VariableDeclarator": {
      if (nameOf(node.init) !== "nodePlatform" || !isNode(node.id) || node.id.type !== "ObjectPattern") return null;
      const taken = (node.id.properties as Node[]).map(({ key }) => members[`nodePlatform.${nameOf(key)}`]);
      return taken.find((problem) => problem !== undefined) ?? null;
    }
    case "Identifier": {
      if (!timers.has(node.name as string)) return null;
      const isKey = parent?.type === "Property" && parent.key === node && parent.shorthand !== true;
      const isMember = parent?.type === "MemberExpression" && parent.property === node;
      return isKey || isMember || parent?.type === "ImportSpecifier" ? null : sleeping;
    }
    case "Literal":
      return typeof node.value === "string" ? problemOfSql(node.value) : null;
    case "TemplateElement":
      return problemOfSql((node.value as { raw: string }).raw);
    default:
      return null;
  }
}

/** Text may be a program that the test only reads or runs. SQL is the test's own. */
function problemOfSql(text: string): string | null {
  if (/(?<![.\w])(random|gen_random_uuid)\(\)/i.test(text)) return chance;
  return /\bpg_sleep\b/i.test(text) ? sleeping : null;
}

export function findNondeterminism(file: string, text: string): Finding[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const lines = text.split("\n");
  const found = new Map<string, Finding>();
  const visit = (node: Node, parent: Node | null): void => {
    const problem = problemOf(node, parent);
    if (problem !== null) {
      const line = text.slice(0, node.start).split("\n").length;
      found.set(`${line} ${problem}`, { file, line, text: lines[line - 1]!.trim(), problem });
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, node);
    }
  };
  visit(program as unknown as Node, null);
  return [...found.values()];
}

const roots = [
  "packages/idem",
  "packages/eslint-plugin",
  "packages/dashboard",
  "packages/create-idem",
  "examples",
  "acceptance",
  "torture",
  "siege",
  "sim",
];
const notOurs = new Set(["node_modules", "dist", "modules"]);

/** Every test and suite, and each file they load that is not shipped. Programs that a test starts are what it tests. */
export function filesOfTests(root: string): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    const text = readFileSync(join(root, path), "utf8");
    for (const [, target] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from "(\.[^"]+)"/gm)) {
      const to = posix.join(posix.dirname(path), target!);
      const isOurs = roots.some((folder) => to.startsWith(`${folder}/`)) && !/^packages\/[\w-]+\/src\//.test(to);
      if (isOurs && /\.(ts|tsx|mjs)$/.test(to) && existsSync(join(root, to))) add(to);
    }
  };
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !notOurs.has(entry.name)) walk(path);
      if (entry.isFile() && /\.(test\.tsx?|suite\.ts)$/.test(entry.name))
        add(relative(root, path).split(sep).join("/"));
    }
  };
  for (const folder of roots) walk(join(root, folder));
  return [...found].sort();
}
