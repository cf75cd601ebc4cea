// idem init: a project gets the lint rules, the two scripts and the pipeline. Existing text stays; done twice is done once.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { readPackageText } from "../../platform/package-files.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { exitCodes, failed, usage } from "../exit.ts";
import { changedLines } from "../init/changed-lines.ts";
import { findFunctions } from "../init/find-functions.ts";
import { type Linter, type Plan, type PlannedFile, type Project, planInit } from "../init/plan.ts";
import { lockfiles, managed, type PackageManager } from "../init/workflow.ts";
import { printable } from "../printable.ts";
import { repositoryOf } from "../report-verdicts.ts";
import { sayBeside } from "../say-beside.ts";
import { findModules, projectPath, readSource } from "../verify-inputs.ts";

const linters: readonly Linter[] = ["eslint", "oxlint"];

export const init: Command = {
  name: "init",
  summary: "put lint rules, scripts and a pipeline that verifies into the project of this folder",
  whyNoServer: "it writes into this folder and asks no store.",
  usage: "[module…] [--linter <eslint | oxlint>] [--install] [--dry-run]",
  words: { min: 0, max: 1_000 },
  options: {
    linter: {
      value: linters.join(" | "),
      help: "which one gets the rules; the one the project has unless given, else eslint",
      choices: linters,
    },
    install: { help: "install what package.json lacked; without it the command is only told" },
    "dry-run": { help: "show what would be written, and write nothing" },
    json: storeOptions.json!,
  },
  details: [
    "Modules are those that define functions; they are looked for unless named. Each file is told: made, changed, as it should be, or left alone and why,",
    "with the lines to paste. Nothing that is there is written over: a script of that name stays, JSON keeps its form, a configuration whose list",
    "cannot be found is left. A second time there is nothing to do.",
  ],
  examples: ["idem init", "idem init src/functions.ts --dry-run", "idem init --linter oxlint --install"],
  async run(context) {
    const project = readProject(context);
    const plan = planOf(project);
    const isDry = context.flags.has("dry-run");
    if (!isDry) for (const planned of plan.files) write(context.io.cwd, planned);
    const missing = plan.packages.filter((name) => !isInstalled(context.io.cwd, name));
    const { install } = managed[project.manager];
    const isInstalling = !isDry && context.flags.has("install") && missing.length > 0;
    if (context.isJson) context.json(jsonOf(plan, missing, install));
    else show(context, plan, isDry, isInstalling || missing.length === 0 ? null : install);
    if (isInstalling) runInstall(context, install);
    return exitCodes.ok;
  },
};

function planOf(project: Project): Plan {
  try {
    return planInit(project);
  } catch (error) {
    // `scripts` that is a list, say.
    if (error instanceof SyntaxError) throw usage(`package.json cannot be edited: ${error.message}.`);
    throw error;
  }
}

interface Manifest {
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function readProject({ io, words, options }: Context): Project {
  const { cwd } = io;
  const text = readSource(join(cwd, "package.json"));
  if (text === null) throw usage(`There is no package.json in ${printable(cwd)}: npm init -y makes one.`);
  const manifest = readManifest(text);
  const linter = linters.find((each) => each === options.linter) ?? null;
  if (options.linter !== undefined && linter === null)
    throw usage(`--linter is "${printable(options.linter)}"; it is ${linters.join(" or ")}.`);
  const given = findModules(words, cwd).map((path) => projectPath(cwd, path));
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  const found = given.length > 0 ? { modules: given, others: [] } : findFunctions(cwd, all.inngest !== undefined);
  const root = repositoryOf(cwd);
  const { manager, folder } = managerOf(cwd, root, manifest.packageManager);
  const own = JSON.parse(readPackageText("../package.json")) as {
    version: string;
    peerDependencies: Record<string, string>;
  };
  return {
    ...found,
    read: (name) => readSource(join(cwd, ...name.split("/"))),
    folder: projectPath(root, cwd),
    lockFolder: projectPath(root, folder),
    manager,
    linter,
    version: own.version,
    peers: own.peerDependencies,
  };
}

function readManifest(text: string): Manifest {
  try {
    const read = JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
    if (typeof read === "object" && read !== null && !Array.isArray(read)) return read;
  } catch (error) {
    throw usage(`package.json is not JSON: ${(error as Error).message}.`);
  }
  throw usage("package.json is no object.");
}

/** By what package.json says, else by the lockfile nearest above; npm where there is none. */
function managerOf(
  cwd: string,
  root: string,
  said?: string,
): { readonly manager: PackageManager; readonly folder: string } {
  const named = (Object.keys(managed) as PackageManager[]).find((each) => said?.startsWith(`${each}@`) === true);
  for (let folder = cwd; ; folder = dirname(folder)) {
    const lock = lockfiles.find(([file]) => existsSync(join(folder, file)));
    if (lock !== undefined) return { manager: named ?? lock[1], folder };
    if (folder === root || dirname(folder) === folder) return { manager: named ?? "npm", folder: cwd };
  }
}

/** As Node would find it: here, or in a folder above. */
function isInstalled(cwd: string, name: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules", ...name.split("/")))) return true;
    if (dirname(folder) === folder) return false;
  }
}

function write(cwd: string, { file, before, after }: PlannedFile): void {
  if (after === null || after === before) return;
  const path = join(cwd, ...file.split("/"));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, after);
}

const didOf = ({ before, after, left }: PlannedFile): "made" | "changed" | "same" | "left" => {
  if (after !== before) return before === null ? "made" : "changed";
  return left.length > 0 ? "left" : "same";
};

const jsonOf = ({ files }: Plan, missing: readonly string[], install: string) => ({
  files: files.map((planned) => {
    const { file, what, left, paste } = planned;
    return { file, did: didOf(planned), what, left, paste };
  }),
  missing,
  install: missing.length === 0 ? null : install,
});

function show(context: Context, { files }: Plan, isDry: boolean, install: string | null): void {
  const { paint } = context;
  const words = isDry
    ? { made: "would be made", changed: "would be changed", same: "as it should be", left: "left alone" }
    : { made: "made", changed: "changed", same: "as it should be", left: "left alone" };
  for (const planned of files) {
    const did = didOf(planned);
    const isNew = did === "made" || did === "changed";
    context.say(`${(isNew ? paint.bold : paint.dim)(printable(planned.file))}  ${words[did]}`);
    for (const each of planned.what) sayBeside(context, "  + ", each, paint.green("  + "));
    if (isDry && isNew) showLines(context, planned);
    for (const each of planned.left) sayBeside(context, "  left: ", each, paint.yellow("  left: "));
    if (planned.paste.length > 0) context.say("  to paste:");
    for (const line of planned.paste) context.say(`    ${printable(line)}`.trimEnd());
  }
  context.say("");
  if (files.every(({ before, after }) => before === after)) context.say("Nothing to do.");
  if (install !== null) context.say(`${isDry ? "Then" : "Now"}: ${install}`);
}

function showLines({ say, paint }: Context, { before, after }: PlannedFile): void {
  for (const { sign, line } of changedLines((before ?? "").trimEnd(), after!.trimEnd())) {
    const text = `    ${sign} ${printable(line)}`.trimEnd();
    say(sign === "+" ? paint.green(text) : paint.red(text));
  }
}

function runInstall({ io, remark }: Context, command: string): void {
  const [program, ...args] = command.split(" ");
  remark(command);
  // Its output is no part of the answer.
  const { status } = spawnSync(program!, args, { cwd: io.cwd, stdio: ["ignore", 2, 2], shell: sep === "\\" });
  if (status !== 0) throw failed(`${command} ended with ${status ?? "nothing"}: what it wrote says why.`);
}
