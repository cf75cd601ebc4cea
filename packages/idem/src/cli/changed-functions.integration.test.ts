// The functions `--changed` verifies, in small repositories of git.
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makersIn } from "../verify/worker/makers.ts";
import { ourFolder } from "../verify/worker/our-folder.ts";
import { type Changes, changedSince } from "./changed-files.ts";
import { ChangedFunctions } from "./changed-functions.ts";
import { temporaryFolder } from "./store-world.ts";
import { projectPath } from "./verify-inputs.ts";

function repository(files: Readonly<Record<string, string>>) {
  const folder = realpathSync(temporaryFolder());
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder });
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  /** Of a function that this file defines, with a client that src/client.ts makes. */
  const ask = (file: string, over: { madeBy?: string[] | null; inputs?: string[]; since?: string } = {}) => {
    const changes = changedSince(folder, over.since ?? "");
    if (changes.kind === "untold") return changes;
    const of = (name: string) => join(folder, name);
    const { madeBy = [file, "src/client.ts"], inputs = [] } = over;
    const question = {
      changes,
      modules: [of("src/main.ts")],
      inputs: inputs.map(of),
      shorten: (path: string) => projectPath(folder, path),
    };
    const place = { file: of(file), line: 1, column: 1 };
    return new ChangedFunctions(question).of({ place, madeBy: madeBy?.map(of) ?? null });
  };
  return { folder, git, write, ask };
}

const shop = {
  "package.json": '{ "type": "module" }',
  "tsconfig.json": '{ "compilerOptions": { "paths": { "@shop/*": ["./src/*"] } } }',
  "src/main.ts": 'import "./invoices.js";\nimport "./mails.js";\n',
  "src/client.ts": "export const idem = 1;\n",
  "src/invoices.ts":
    'import { idem } from "@shop/client.js";\nimport { draft } from "./stripe/index.js";\nidem; draft;\n',
  "src/stripe/index.ts": 'export { draft } from "./draft.ts";\n',
  "src/stripe/draft.ts": "export const draft = 1;\n",
  "src/mails.ts": 'import { idem } from "./client.js";\nidem;\n',
  "README.md": "x",
};

describe("a function is left out", () => {
  test("when none of its files has changed, whatever else has; and verified when one has, however far it is imported from", () => {
    const { write, ask, git } = repository(shop);
    // Its own, what it imports, and main.ts, which leads to it.
    expect(ask("src/invoices.ts")).toEqual({ kind: "same", files: 5 });
    write("README.md", "another");
    write("src/stripe/draft.ts", "export const draft = 2;\n");
    expect(ask("src/invoices.ts")).toEqual({ kind: "changed" });
    expect(ask("src/mails.ts")).toEqual({ kind: "same", files: 3 });
    git("commit", "-qam", "second");
    expect(ask("src/invoices.ts")).toEqual({ kind: "same", files: 5 });
    expect(ask("src/invoices.ts", { since: "HEAD~1" })).toEqual({ kind: "changed" });
    expect(ask("src/mails.ts", { since: "HEAD~1" })).toEqual({ kind: "same", files: 3 });
  });

  test.each(["src/client.ts", "src/main.ts"])("but not when %s has changed: its client, or what loads it", (name) => {
    const { write, ask } = repository(shop);
    write(name, `${shop[name as keyof typeof shop]}export const more = 1;\n`);
    expect(ask("src/mails.ts")).toEqual({ kind: "changed" });
  });

  test("but not when what its verdict depends on beside its code has changed: the configuration and what it imports", () => {
    const { write, ask } = repository({
      ...shop,
      "idem.verify.ts": 'import { rates } from "./fixtures/rates.ts";\nexport default { rates };\n',
      "fixtures/rates.ts": "export const rates = 1;\n",
    });
    const inputs = ["idem.verify.ts"];
    expect(ask("src/mails.ts", { inputs })).toEqual({ kind: "same", files: 5 });
    write("fixtures/rates.ts", "export const rates = 2;\n");
    expect(ask("src/mails.ts", { inputs })).toEqual({ kind: "changed" });
  });

  test("by the package of the same repository that it imports, too", () => {
    const { folder, write, ask } = repository({
      ...shop,
      ".gitignore": "node_modules\n",
      "src/mails.ts": 'import "@shop-inc/mailer";\n',
      "packages/mailer/package.json": '{ "dependencies": { "smtp": "*" } }',
      "packages/mailer/main.js": "",
      "packages/smtp/main.js": "",
    });
    mkdirSync(join(folder, "node_modules", "@shop-inc"), { recursive: true });
    symlinkSync(join(folder, "packages", "mailer"), join(folder, "node_modules", "@shop-inc", "mailer"));
    symlinkSync(join(folder, "packages", "smtp"), join(folder, "node_modules", "smtp"));
    expect(ask("src/mails.ts")).toEqual({ kind: "same", files: 3 });
    write("packages/smtp/main.js", "1;\n");
    expect(ask("src/mails.ts")).toEqual({ kind: "changed" });
  });
});

describe("what cannot be told is verified", () => {
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      "an import by a name that is made when it runs",
      { "src/client.ts": "export const idem = await import(process.argv[1]);\n" },
      /src\/client\.ts imports by a name/,
    ],
    [
      "a require of another name",
      { "src/client.ts": 'const load = createRequire(import.meta.url);\nload("./x.cjs");\n' },
      /src\/client\.ts imports by a name/,
    ],
    ["a name that package.json leads somewhere", { "src/client.ts": 'import "#config";\n' }, /imports #config/],
    ["a file that git ignores", { ".gitignore": "draft.ts\n" }, /git does not look after src\/stripe\/draft\.ts/],
  ])("%s", (_, files, why) => {
    const { ask } = repository({ ...shop, ...files });
    expect(ask("src/invoices.ts")).toEqual({ kind: "unclear", why: expect.stringMatching(why) });
  });

  test.each(["package.json", "tsconfig.json", "package-lock.json"])(
    "a change of %s, by which names lead elsewhere",
    (name) => {
      const { write, ask } = repository(shop);
      write(name, '{ "name": "other" }');
      expect(ask("src/mails.ts")).toEqual({ kind: "unclear", why: expect.stringContaining(`${name} has changed`) });
    },
  );

  test("a function of which nobody knows who made it, as soon as anything that was loaded has changed", () => {
    const { write, ask } = repository(shop);
    expect(ask("src/mails.ts", { madeBy: null })).toEqual({ kind: "same", files: 6 });
    write("src/stripe/draft.ts", "export const draft = 2;\n");
    expect(ask("src/mails.ts", { madeBy: null })).toEqual({ kind: "changed" });
  });

  test("a commit that git does not know, and a folder that is no repository", () => {
    const { folder, ask } = repository(shop);
    expect(ask("src/mails.ts", { since: "origin/absent" })).toMatchObject({
      kind: "untold",
      why: expect.stringContaining('no commit "origin/absent"'),
    });
    expect(ask("src/mails.ts", { since: "--output=x" })).toMatchObject({ kind: "untold" });
    rmSync(join(folder, ".git"), { recursive: true });
    expect(ask("src/mails.ts")).toMatchObject({ kind: "untold", why: expect.stringContaining("no repository") });
  });
});

test("a removed file counts as changed, and so does one under a name that git would write in quotes", () => {
  const { folder, git } = repository({ 'src/ü "a".ts': "", "src/b.ts": "" });
  rmSync(join(folder, 'src/ü "a".ts'));
  git("mv", "src/b.ts", "src/c.ts");
  const changes = changedSince(folder, "HEAD") as Changes;
  for (const name of ['src/ü "a".ts', "src/b.ts", "src/c.ts"]) expect(changes.of(join(folder, name))).toBe("changed");
});

describe("who made a function", () => {
  const ours = `    at Idem.createFunction (file://${ourFolder}sdk/client.js:1:1)`;

  test("are the files on the stack, up to the beginning of the module", () => {
    const stack = [
      "Error",
      ours,
      "    at register (file:///app/(group)/register.ts?idem-life=1:3:5)",
      "    at file:///app/main.ts?idem-life=1:9:1",
      "    at ModuleJob.run (node:internal/modules/esm/module_job:1:1)",
      "    at file:///app/later.ts:1:1",
    ];
    expect(makersIn(stack.join("\n"))).toEqual({
      place: { file: "/app/(group)/register.ts", line: 3, column: 5 },
      by: ["/app/(group)/register.ts", "/app/main.ts"],
    });
  });

  test("are not known where the stack does not lead to the beginning of a module, or leads through code made of a text", () => {
    const later = [
      "Error",
      ours,
      "    at file:///app/main.ts:9:1",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:1:1)",
    ];
    expect(makersIn(later.join("\n"))).toEqual({ place: { file: "/app/main.ts", line: 9, column: 1 }, by: null });
    const made = [
      "Error",
      "    at eval (eval at define (file:///app/main.ts:2:3), <anonymous>:1:1)",
      "    at file:///app/main.ts:9:1",
      "    at Module._compile (node:internal/modules/cjs/loader:1:1)",
    ];
    expect(makersIn(made.join("\n")).by).toBeNull();
  });
});
