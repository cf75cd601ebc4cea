// The plan of `idem init` for a project: each file, with its text before and after, what is new in it, and what is left as it is and why. Pure; done twice,
// the second time has nothing to do.
import { eslintNames, newEslintConfig, withPlugin } from "./eslint-config.ts";
import { withMember, withSortedMember } from "./json-text.ts";
import { newOxlintConfig, oxlintName, withOxlintPlugin } from "./oxlint-config.ts";
import { managed, type PackageManager, workflowOf } from "./workflow.ts";

export interface Project {
  /** The text of a file from the project's folder; null where there is none. */
  readonly read: (name: string) => string | null;
  /** From the repository's root to the project's folder, with slashes; "" where it is that. */
  readonly folder: string;
  readonly lockFolder: string;
  readonly manager: PackageManager;
  /** Modules that define functions, from the project's folder. */
  readonly modules: readonly string[];
  /** Modules that define functions for the `inngest` package. */
  readonly others: readonly string[];
  /** Asked for; null for whichever the project has. */
  readonly linter: Linter | null;
  /** Of this package: its version, and what it wants beside it. */
  readonly version: string;
  readonly peers: Readonly<Record<string, string>>;
}

export type Linter = "eslint" | "oxlint";

export interface PlannedFile {
  /** From the project's folder. */
  readonly file: string;
  readonly before: string | null;
  /** The same as before where nothing is to do. */
  readonly after: string | null;
  /** New in it, for people. */
  readonly what: readonly string[];
  /** Left as it is, and why. */
  readonly left: readonly string[];
  /** Lines to add by hand. */
  readonly paste: readonly string[];
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  /** Packages the project needs for it, by the ranges it has or gets. */
  readonly packages: readonly string[];
}

interface Manifest {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly eslintConfig?: unknown;
}

const eslintRange = "^10.0.0";
const oxlintRange = "^1.93.0";
const parserRange = "^8.0.0";
const verifyNames = ["ts", "mts", "cts", "mjs", "js", "cjs"].map((ending) => `idem.verify.${ending}`);
const oldEslintNames = ["", ".json", ".js", ".cjs", ".yml", ".yaml"].map((ending) => `.eslintrc${ending}`);

const file = (name: string, before: string | null, over: Partial<PlannedFile> = {}): PlannedFile => ({
  file: name,
  before,
  after: before,
  what: [],
  left: [],
  paste: [],
  ...over,
});

/** The first number of a range; null where it has none ("latest", "workspace:*"). */
const majorOf = (range: string | undefined): number | null => {
  const found = /\d+/.exec(range ?? "")?.[0];
  return found === undefined ? null : Number(found);
};

export function planInit(project: Project): Plan {
  const text = project.read("package.json")!;
  const manifest = JSON.parse(text.replace(/^\uFEFF/, "")) as Manifest;
  const has = { ...manifest.optionalDependencies, ...manifest.devDependencies, ...manifest.dependencies };
  const isTyped =
    has.typescript !== undefined ||
    project.read("tsconfig.json") !== null ||
    project.modules.some((name) => /\.[cm]?tsx?$/.test(name));
  const linters = lintersOf(project, manifest, has, isTyped);
  const configs = linters.map((linter) =>
    linter === "eslint" ? planEslint(project, manifest, has, isTyped) : planOxlint(project),
  );
  const wanted = wantedPackages(project, linters, configs, isTyped);
  const scripts = { verify: "idem verify", lint: linters.map((each) => lintCommands[each]).join(" && ") };
  return {
    files: [
      planVerify(project, isTyped),
      ...configs,
      planManifest(text, manifest, scripts, wanted, has),
      planWorkflow(project, manifest, scripts),
    ],
    packages: Object.keys(wanted),
  };
}

const lintCommands: Readonly<Record<Linter, string>> = { eslint: "eslint .", oxlint: "oxlint" };

/** Those it has; where it has none, ESLint, but for a TypeScript that ESLint's parser does not know yet. */
function lintersOf(
  { read, linter }: Project,
  { eslintConfig }: Manifest,
  has: Readonly<Record<string, string>>,
  isTyped: boolean,
): Linter[] {
  if (linter !== null) return [linter];
  const isAny = (names: readonly string[]): boolean => names.some((name) => read(name) !== null);
  const found: Linter[] = [];
  if (isAny(eslintNames) || isAny(oldEslintNames) || eslintConfig !== undefined || has.eslint !== undefined)
    found.push("eslint");
  if (read(oxlintName) !== null || has.oxlint !== undefined) found.push("oxlint");
  if (found.length > 0) return found;
  return isTyped && (majorOf(has.typescript) ?? 0) >= 7 ? ["oxlint"] : ["eslint"];
}

function planEslint(
  { read }: Project,
  { type, eslintConfig }: Manifest,
  has: Readonly<Record<string, string>>,
  isTyped: boolean,
): PlannedFile {
  const name = eslintNames.find((each) => read(each) !== null);
  const own = name ?? (type === "module" ? "eslint.config.js" : "eslint.config.mjs");
  const before = name === undefined ? null : read(name);
  const major = majorOf(has.eslint);
  const paste = newEslintConfig(isTyped).trimEnd().split("\n");
  if (major !== null && major < 9) {
    const why = `eslint is ${has.eslint} here, and the plugin needs 9 or later: move up, or take oxlint (idem init --linter oxlint)`;
    return file(own, before, { left: [why], paste });
  }
  if (before === null) {
    const old =
      oldEslintNames.find((each) => read(each) !== null) ?? (eslintConfig === undefined ? null : "package.json");
    if (old === null || old === undefined)
      return file(own, null, { after: newEslintConfig(isTyped), what: ["eslint-plugin-idem, its recommended rules"] });
    const why = `${own} would put the configuration in ${old} out of force: move that over first (npx @eslint/migrate-config)`;
    return file(own, null, { left: [why], paste });
  }
  const edited = withPlugin(before);
  switch (edited.kind) {
    case "same":
      return file(own, before);
    case "edited":
      return file(own, before, { after: edited.text, what: ["eslint-plugin-idem, its recommended rules"] });
    case "left":
      return file(own, before, { left: [edited.why], paste: edited.paste });
  }
}

function planOxlint({ read }: Project): PlannedFile {
  const before = read(oxlintName);
  const what = ["eslint-plugin-idem as one of jsPlugins, its recommended rules"];
  if (before === null) return file(oxlintName, null, { after: newOxlintConfig(), what });
  const edited = withOxlintPlugin(before);
  switch (edited.kind) {
    case "same":
      return file(oxlintName, before);
    case "edited":
      return file(oxlintName, before, { after: edited.text, what });
    case "left":
      return file(oxlintName, before, { left: [edited.why], paste: edited.paste });
  }
}

/** By their ranges. */
function wantedPackages(
  { version, peers, modules }: Project,
  linters: readonly Linter[],
  configs: readonly PlannedFile[],
  isTyped: boolean,
): Readonly<Record<string, string>> {
  const isTypedModule = modules.some((name) => /\.[cm]?tsx?$/.test(name));
  // A configuration that was there knows its own parser.
  const isParserNew =
    isTyped &&
    linters.includes("eslint") &&
    configs.some((each) => each.after?.includes("@typescript-eslint/parser") === true && each.before === null);
  return {
    ...(linters.includes("eslint") ? { eslint: eslintRange } : {}),
    ...(isParserNew ? { "@typescript-eslint/parser": parserRange } : {}),
    ...(linters.includes("oxlint") ? { oxlint: oxlintRange } : {}),
    "eslint-plugin-idem": `^${version}`,
    "@mswjs/interceptors": peers["@mswjs/interceptors"] ?? "*",
    ...(isTypedModule ? { "@swc/wasm": peers["@swc/wasm"] ?? "*" } : {}),
    idem: `^${version}`,
  };
}

function planVerify({ read, modules, others }: Project, isTyped: boolean): PlannedFile {
  const known = verifyNames.find((name) => read(name) !== null);
  const left =
    others.length === 0 ? [] : [`${others.join(", ")}: written for inngest; linted, and not verified by idem verify`];
  if (known !== undefined) {
    const text = read(known)!;
    const missing = modules.filter((name) => !text.includes(name.replace(/^.*\//, "")));
    const more = missing.length === 0 ? [] : [`it does not name ${missing.join(", ")}: add them to its modules`];
    return file(known, text, { left: [...left, ...more] });
  }
  const name = isTyped ? "idem.verify.ts" : "idem.verify.mjs";
  if (modules.length === 0) {
    const why = "no module was found that defines functions: name them (idem init src/functions.ts)";
    return file(name, null, { left: [...left, why] });
  }
  const after = `// For idem verify. docs/verify.md of the package idem has all that may stand here.
export default {
  modules: ${JSON.stringify(modules, null, 2).split("\n").join("\n  ")},
  // An event for each function, as you would send it: { "its-id": { event: { name: "…", data: { … } } } }.
  // One whose client has a schema with an example for its event needs none.
  functions: {},
};
`;
  return file(name, null, { after, what: [`modules: ${modules.join(", ")}`], left });
}

function planManifest(
  before: string,
  { scripts = {} }: Manifest,
  wantedScripts: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  has: Readonly<Record<string, string>>,
): PlannedFile {
  const what: string[] = [];
  const left: string[] = [];
  let after = before;
  for (const [name, command] of Object.entries(wantedScripts)) {
    const known = scripts[name];
    if (known === undefined) {
      after = withMember(after, "scripts", name, command);
      what.push(`scripts.${name}: ${command}`);
    } else if (known !== command) left.push(`scripts.${name} is "${known}" and stays; ours would be "${command}"`);
  }
  for (const [name, range] of Object.entries(wanted)) {
    if (has[name] !== undefined) continue;
    // Functions import it, so it is needed where they run.
    const place = name === "idem" ? "dependencies" : "devDependencies";
    after = withSortedMember(after, place, name, range);
    what.push(`${place}: ${name} ${range}`);
  }
  return file("package.json", before, { after, what, left });
}

function planWorkflow(
  project: Project,
  { scripts = {} }: Manifest,
  ours: { verify: string; lint: string },
): PlannedFile {
  const { read, folder, lockFolder, manager } = project;
  const up = folder === "" ? "" : "../".repeat(folder.split("/").length);
  const name = folder === "" ? "idem.yml" : `idem-${folder.replaceAll(/[^\w-]+/g, "-")}.yml`;
  const path = `${up}.github/workflows/${name}`;
  const { run, exec } = managed[manager];
  const report = "--reporter sarif --output idem.sarif";
  const isOurs = (scripts.verify ?? ours.verify) === ours.verify;
  const isLinting = scripts.lint === undefined || /\b(eslint|oxlint)\b/.test(scripts.lint);
  const after = workflowOf({
    manager,
    folder,
    lockFolder,
    lint: isLinting ? run("lint", "") : ours.lint.split(" && ").map(exec).join(" && "),
    verify: isOurs ? run("verify", report) : exec(`idem verify ${report}`),
  });
  const before = read(path);
  if (before === null)
    return file(path, null, { after, what: ["lints, verifies, and shows findings beside the lines"] });
  if (before === after) return file(path, before);
  const runs = ["idem verify", managed[manager].run("verify", "")].some((command) => before.includes(command));
  return file(path, before, {
    left: runs
      ? ["it is another one by now, and verifies: it stays"]
      : ["it is another one, and does not run idem verify"],
    paste: runs ? [] : after.trimEnd().split("\n"),
  });
}
