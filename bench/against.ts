// npm run bench -- --against <commit> [--pairs 7] [--only engine-100]: this build and that commit's in turn, so that a change of a few per cent can be told from noise.
// The commit is built in a temporary folder with the packages that are installed here; what measures is this bench, of both.
// npm run bench -- --without end-notes|tracing: the same, against this very commit with a part of it taken out: what that part costs.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./machine.ts";
import { type Figure, printRows, type Row, round, takeEach } from "./take-figures.ts";

export interface Pair {
  readonly before: Figure;
  readonly now: Figure;
}

/** The parts of a figure that are compared, and whether more is better. */
const compared = { perSecond: true, p50Ms: false, cpuUs: false, loopDelayP99Ms: false } as const;

/** Parts that can be taken out, by a line of a file that is replaced. */
const parts: Readonly<Record<string, { readonly file: string; readonly line: string; readonly by: string }>> = {
  // The ends of runs are noted in the commit that ends them (docs/decisions/0044).
  "end-notes": {
    file: "packages/idem/src/store/rules/count-ends.ts",
    line: "export function noteEnds(",
    by: "export function noteEnds(..._: unknown[]): void {}\nexport function notedEnds(",
  },
  // Whether anybody listens is looked up for each event and each run (docs/decisions/0046).
  tracing: {
    file: "packages/idem/src/observe/tracing.ts",
    line: "  get isOn(): boolean {",
    by: "  get isOn(): boolean {\n    return false;\n  }\n\n  get wouldBeOn(): boolean {",
  },
};

interface Comparing {
  readonly program: string;
  readonly names: readonly string[];
  readonly scale: number;
  readonly pairs: number;
}

/** This build beside its own commit without the part. */
export function compareWithout(part: string, comparing: Comparing): void {
  const changed = execFileSync("git", ["status", "--porcelain", "packages/idem"], { cwd: root, encoding: "utf8" });
  if (changed !== "")
    throw new Error("packages/idem is not as it was committed: the two would differ in more than that");
  if (parts[part] === undefined) throw new Error(`--without ${part}: it can be ${Object.keys(parts).join(", ")}`);
  compareWith("HEAD", comparing, part);
}

export function compareWith(commit: string, { program, names, scale, pairs }: Comparing, without?: string): void {
  const folder = mkdtempSync(join(tmpdir(), "idem-against-"));
  try {
    const modules = buildAt(commit, folder, without === undefined ? null : parts[without]!);
    process.stderr.write(`Taking ${names.length * pairs} pairs of figures…\n`);
    const taken = new Map(names.map((name) => [name, [] as Pair[]]));
    for (let n = 0; n < pairs; n++) {
      for (const name of names) {
        // The one that comes first is not always the same: the second finds warmer caches and a busier disk.
        const order = n % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const);
        const pair: Partial<Record<keyof Pair, Figure>> = {};
        for (const which of order) {
          const figure = takeEach(program, name, scale, which === "before" ? { IDEM_MODULES: modules } : {});
          if (figure !== null) pair[which] = figure;
        }
        const { before, now } = pair;
        const isWhole = before !== undefined && now !== undefined;
        if (isWhole) taken.get(name)!.push({ before, now });
        else process.exitCode = 1;
        process.stderr.write(`  ${n + 1}/${pairs} ${name}${isWhole ? "" : ": failed"}\n`);
      }
    }
    printRows([...taken].flatMap(([name, each]) => rowsOf(name, each)));
  } finally {
    execFileSync("git", ["worktree", "remove", "--force", folder], { cwd: root, stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The ratio of each pair, in the middle, and the range that all but the two outermost lie in. */
export function rowsOf(name: string, pairs: readonly Pair[]): Row[] {
  return Object.entries(compared).flatMap(([of, isMoreBetter]): Row[] => {
    const both = pairs.filter(({ before, now }) => before[of] !== undefined && now[of] !== undefined);
    if (both.length === 0) return [];
    const ratios = both.map(({ before, now }) => now[of]! / before[of]!).sort((a, b) => a - b);
    const inner = ratios.length > 4 ? ratios.slice(1, -1) : ratios;
    const [low, high] = [inner[0]!, inner.at(-1)!];
    const judged = low > 1 === high > 1 ? (low > 1 === isMoreBetter ? "better" : "worse") : "within the noise";
    const told = ratios.length < 5 ? "too few pairs to tell" : judged;
    const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
    const values = `${round(middle(both.map(({ before }) => before[of]!)))} → ${round(middle(both.map(({ now }) => now[of]!)))}`;
    return [
      [`${name} ${of}`, values, `× ${middle(ratios).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}): ${told}`],
    ];
  });
}

/** The folder of its compiled modules; its threads run from what it publishes, so all of it is built. */
function buildAt(commit: string, folder: string, part: (typeof parts)[string] | null): string {
  process.stderr.write(`Building ${commit}…\n`);
  execFileSync("git", ["worktree", "add", "--detach", "--force", folder, commit], { cwd: root, stdio: "ignore" });
  if (part !== null) {
    const text = readFileSync(join(folder, part.file), "utf8");
    if (!text.includes(part.line)) throw new Error(`${part.file} has no line "${part.line}" any more`);
    writeFileSync(join(folder, part.file), text.replace(part.line, part.by));
  }
  for (const place of [".", "packages/eslint-plugin"]) {
    const installed = join(root, place, "node_modules");
    if (existsSync(installed) && existsSync(join(folder, place)))
      symlinkSync(installed, join(folder, place, "node_modules"));
  }
  execFileSync(process.execPath, [join(folder, "scripts", "build.mjs")], { cwd: folder, stdio: ["ignore", 2, 2] });
  // Before decision 42 what was compiled was what was published.
  const built = ["modules", "dist"].map((name) => join(folder, "packages", "idem", name));
  return built.find(existsSync)!;
}
