// Completion scripts, written from the commands' own options.
import type { Command } from "./command.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

const flagsOf = (command: Command): string[] => [...Object.keys(command.options), "help"].map((name) => `--${name}`);

const choicesOf = (command: Command): (readonly [string, readonly string[]])[] =>
  Object.entries(command.options).flatMap(([name, { choices }]) =>
    choices === undefined ? [] : ([[name, choices]] as const),
  );

export function completionFor(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => `    ${command.name}) words="${wordsOf(command)}" ;;`);
  const choices = commands.flatMap((command) =>
    choicesOf(command).map(([name, values]) => `    "${command.name} --${name}") words="${values.join(" ")}" ;;`),
  );
  return `${[
    "# bash completion for idem",
    "_idem() {",
    "  local current previous command words",
    `  current="\${COMP_WORDS[COMP_CWORD]}"`,
    `  previous="\${COMP_WORDS[COMP_CWORD-1]}"`,
    `  command="\${COMP_WORDS[1]}"`,
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$current"))`,
    "    return",
    "  fi",
    '  case "$command" in',
    ...cases,
    '    *) words="" ;;',
    "  esac",
    '  case "$command $previous" in',
    ...choices,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _idem idem",
  ].join("\n")}\n`;
}

const wordsOf = (command: Command): string =>
  [...flagsOf(command), ...(command.name === "completion" ? shells : [])].join(" ");

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function zsh(commands: readonly Command[]): string {
  const described = (text: string) => text.replaceAll(/[[\]:\\]/g, "\\$&");
  const cases = commands.map((command) => {
    const specs = Object.entries(command.options).map(([name, { help, value, choices }]) => {
      const argument =
        value === undefined
          ? ""
          : `:${described(value)}:${choices === undefined ? "_files" : `(${choices.join(" ")})`}`;
      return quoted(`--${name}[${described(help)}]${argument}`);
    });
    const rest = command.name === "completion" ? `1:shell:(${shells.join(" ")})` : "*:word:_files";
    return `    ${command.name}) _arguments ${[...specs, quoted("--help[this text]"), quoted(rest)].join(" ")} ;;`;
  });
  return `${[
    "#compdef idem",
    "_idem() {",
    "  local -a commands",
    `  commands=(${commands.map(({ name, summary }) => quoted(`${name}:${summary}`)).join(" ")})`,
    "  if (( CURRENT == 2 )); then",
    "    _describe 'command' commands",
    "    return",
    "  fi",
    `  local command=\${words[2]}`,
    "  shift words",
    "  (( CURRENT-- ))",
    '  case "$command" in',
    ...cases,
    "  esac",
    "}",
    '_idem "$@"',
  ].join("\n")}\n`;
}

function fish(commands: readonly Command[]): string {
  const lines = ["# fish completion for idem", "complete -c idem -f"];
  for (const { name, summary } of commands) {
    lines.push(`complete -c idem -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
  }
  for (const command of commands) {
    const under = quoted(`__fish_seen_subcommand_from ${command.name}`);
    for (const [name, { help, value, choices, short }] of Object.entries(command.options)) {
      const argument =
        value === undefined ? "" : choices === undefined ? " -r -F" : ` -r -a ${quoted(choices.join(" "))}`;
      const letter = short === undefined ? "" : ` -s ${short}`;
      lines.push(`complete -c idem -n ${under} -l ${name}${letter} -d ${quoted(help)}${argument}`);
    }
    if (command.name === "completion") lines.push(`complete -c idem -n ${under} -a ${quoted(shells.join(" "))}`);
  }
  return `${lines.join("\n")}\n`;
}
