// npm create idem: asks what it has to know, writes the project, says the next three commands. Nothing that is there is written over.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { type Form, hasSqlite, refusalOf, type Store, stores, type Template, templates } from "./form.ts";
import { projectOf } from "./project.ts";

export interface World {
  readonly cwd: string;
  readonly nodeVersion: string;
  out(line: string): void;
  err(line: string): void;
  /** Null where nobody is there to be asked. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

const usage = `npm create idem <folder> -- [--template ${templates.join("|")}] [--store ${stores.join("|")}] [--yes]`;

class Refused extends Error {}

interface Asked {
  readonly folder: string | null;
  readonly template: string | null;
  readonly store: string | null;
  readonly isHelp: boolean;
  readonly isQuiet: boolean;
}

function read(args: readonly string[]): Asked {
  const options = {
    template: { type: "string", short: "t" },
    store: { type: "string", short: "s" },
    yes: { type: "boolean", short: "y" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (positionals.length > 1) throw new Error(`one folder, and not ${positionals.length}`);
    return {
      folder: positionals[0] ?? null,
      template: values.template ?? null,
      store: values.store ?? null,
      isHelp: values.help === true,
      isQuiet: values.yes === true,
    };
  } catch (error) {
    throw new Refused(`${(error as Error).message}\n${usage}`);
  }
}

function oneOf<T extends string>(flag: string, given: string, known: readonly T[]): T {
  const found = known.find((each) => each === given);
  if (found === undefined) throw new Refused(`--${flag} is "${given}"; it is one of ${known.join(", ")}.`);
  return found;
}

async function settled<T extends string>(
  flag: string,
  given: string | null,
  known: readonly [T, ...T[]],
  ask: World["ask"],
): Promise<T> {
  if (given !== null) return oneOf(flag, given, known);
  const said = ask === null ? "" : await ask(`${flag} (${known.join(", ")}) [${known[0]}]: `);
  return said === "" ? known[0] : oneOf(flag, said, known);
}

async function folderOf({ folder, isQuiet }: Asked, ask: World["ask"]): Promise<string> {
  if (folder !== null) return folder;
  if (isQuiet) return "my-app";
  if (ask === null) throw new Refused(`Name a folder, or --yes for my-app.\n${usage}`);
  return (await ask("folder [my-app]: ")) || "my-app";
}

/** Absolute; refused where something is in it. */
function emptyFolder(cwd: string, given: string): string {
  const folder = resolve(cwd, given);
  if (!existsSync(folder)) return folder;
  if (!statSync(folder).isDirectory()) throw new Refused(`${folder} is a file. Name a folder that is new or empty.`);
  const found = readdirSync(folder).filter((name) => name !== ".git");
  if (found.length === 0) return folder;
  const shown = found.slice(0, 3).join(", ") + (found.length > 3 ? ", …" : "");
  throw new Refused(
    `${folder} is not empty (${shown}). Name a folder that is new or empty; a project that is there already takes: npx idem init`,
  );
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    const place = join(folder, ...path.split("/"));
    mkdirSync(dirname(place), { recursive: true });
    // Somebody may have put one there meanwhile.
    writeFileSync(place, text, { flag: "wx" });
  }
}

export async function create(args: readonly string[], world: World): Promise<number> {
  try {
    const asked = read(args);
    if (asked.isHelp) {
      world.out(usage);
      return 0;
    }
    const ask = asked.isQuiet ? null : world.ask;
    const folder = emptyFolder(world.cwd, await folderOf(asked, ask));
    const name = basename(folder);
    const refusal = refusalOf(name);
    if (refusal !== null) throw new Refused(`"${name}" cannot be the name of the project: ${refusal}.`);
    const template: Template = await settled("template", asked.template, templates, ask);
    const store: Store = await settled("store", asked.store, stores, ask);
    const form: Form = { name, template, store, needsDriver: !hasSqlite(world.nodeVersion) };
    const files = projectOf(form);
    write(folder, files);
    tell(world, form, folder, files.size);
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    world.err(error.message);
    return 2;
  }
}

function tell({ out, cwd }: World, { template, store }: Form, folder: string, count: number): void {
  const path = relative(cwd, folder);
  out(`${folder}: ${count} files, template ${template}, store ${store}.`);
  out("");
  if (path !== "") out(`  cd ${/\s/.test(path) ? JSON.stringify(path) : path}`);
  out("  npm install");
  out("  npm test");
  if (store === "postgres") out("  cp .env.example .env");
  out(template === "next" ? "  npm run dev" : "  npm start");
}

export async function main(args: readonly string[]): Promise<number> {
  const isThere = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const terminal = isThere ? createInterface({ input: process.stdin, output: process.stdout }) : null;
  try {
    return await create(args, {
      cwd: process.cwd(),
      nodeVersion: process.versions.node,
      out: (line) => console.log(line),
      err: (line) => console.error(line),
      ask: terminal === null ? null : async (question) => (await terminal.question(question)).trim(),
    });
  } finally {
    terminal?.close();
  }
}
