import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serverOptions } from "./command.ts";
import { allCommands } from "./commands.ts";
import { exitCodeList } from "./exit.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { optionName, usageLine } from "./help.ts";
import { inngestFlags, inngestVariables } from "./inngest-flags.ts";

const commands = await allCommands();

const terminal = fakeTerminal({ cwd: "/" });
const written = readFileSync(fileURLToPath(new URL("../../../../docs/cli.md", import.meta.url)), "utf8");
// Tables are padded by the formatter.
const documented = written.replaceAll(/ +\|/g, " |").replaceAll(/\| +/g, "| ");

describe("help", () => {
  test("idem --help names every command and every exit code", async () => {
    expect(await terminal.run("--help")).toBe(0);
    for (const { name, summary } of commands) {
      expect(terminal.written.out).toMatch(new RegExp(`^ {2}${name} +`, "m"));
      expect(terminal.written.out).toContain(summary);
    }
    for (const [code, text] of exitCodeList) expect(terminal.written.out).toContain(`${code}  ${text}`);
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    "idem %s --help has its usage, options and an example that begins with idem",
    async (name, command) => {
      expect(await terminal.run(name, "--help")).toBe(0);
      const { out } = terminal.written;
      expect(out).toContain(`Usage: ${usageLine(command)}`);
      for (const [option, spec] of Object.entries(command.options)) expect(out).toContain(optionName(option, spec));
      expect(command.examples.length).toBeGreaterThan(0);
      for (const example of command.examples) expect(example).toMatch(/(^|\| |\$\()idem /);
      expect(await terminal.run("help", name)).toBe(0);
      expect(terminal.written.out).toBe(out);
    },
  );
});

describe("what is printed elsewhere", () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const pages = [
    "README.md",
    ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ].map((page) => [page, readFileSync(`${root}${page}`, "utf8")] as const);
  const helps = commands.map(({ name, details = [] }) => [`the help of ${name}`, details.join("\n")] as const);

  /** Everything set in code: `idem rerun <id> --from charge`, as a line or between words. */
  const printed = (text: string): string[] => [
    ...[...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, lines]) => lines!.split("\n")),
    ...[...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!),
  ];

  test("a command that a page or a help names is there, with every option it is given", () => {
    const wrong = [...pages, ...helps].flatMap(([where, text]) =>
      printed(text).flatMap((line) =>
        [...line.matchAll(/(?:^|(?<!install|create)[\s(;])idem ([a-z][a-z-]*)([^#|&)]*)/g)].flatMap(
          ([, name, rest]) => {
            const command = commands.find((each) => each.name === name);
            if (command === undefined) return [`${where}: there is no command in \`${line}\``];
            const options = [...rest!.matchAll(/(?<=\s)--([a-z-]+)/g)].map(([, option]) => option!);
            const strange = options.filter((option) => command.options[option] === undefined && option !== "help");
            return strange.map((option) => `${where}: idem ${name} has no --${option} in \`${line}\``);
          },
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe("docs/cli.md", () => {
  test("has a section for each command and for nothing else, in the order of help", () => {
    const sections = [...documented.matchAll(/^### `idem ([a-z-]+)`/gm)].map(([, name]) => name);
    expect(sections).toEqual(commands.map(({ name }) => name));
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    "says of idem %s what its help says: usage, own options, examples",
    (name, command) => {
      const section = documented.split(/^### /m).find((part) => part.startsWith(`\`idem ${name}\``))!;
      expect(section).toContain(usageLine(command));
      const own = Object.keys(command.options).filter((option) => serverOptions[option] === undefined);
      for (const option of own) expect(section).toContain(`--${option}`);
      for (const example of command.examples) expect(section).toContain(example);
    },
  );

  test("says of each flag of the Inngest dev server what it does here, and names the variables", () => {
    for (const { name, value, short, honored, ignored } of inngestFlags) {
      const option = { help: "", ...(value === undefined ? {} : { value }), ...(short === undefined ? {} : { short }) };
      const row = new RegExp(`\\| \`${optionName(name, option)}\` \\| [^|]+ \\| ([^|]+) \\|`).exec(documented)?.[1];
      expect(row).toBe(honored ?? `ignored: ${ignored}`);
    }
    for (const variable of Object.values(inngestVariables)) expect(documented).toContain(`\`${variable}\``);
  });

  test("lists the exit codes and the options of every command", () => {
    for (const [code, text] of exitCodeList) expect(documented).toContain(`| ${code} | ${text} |`);
    for (const [name, option] of Object.entries(serverOptions))
      expect(documented).toContain(`\`${optionName(name, option)}\``);
  });
});

describe("completion", () => {
  test.each(["bash", "zsh", "fish"])("the %s script knows every command and option", async (shell) => {
    expect(await terminal.run("completion", shell)).toBe(0);
    const { out } = terminal.written;
    for (const { name, options } of commands) {
      expect(out).toContain(name);
      for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(`(--|-l )${option}`));
    }
    expect(out).toContain("queued running waiting");
  });
});
