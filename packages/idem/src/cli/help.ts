// Help, made from what the commands say about themselves, so that it cannot differ from what they do.
import { type Command, type Option, serverOptions } from "./command.ts";
import { exitCodeList } from "./exit.ts";

export const optionName = (name: string, { value, short, looks }: Option): string =>
  `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : looks === undefined ? ` <${value}>` : ` [${value}]`}`;

export const usageLine = (command: Command): string => `idem ${`${command.name} ${command.usage}`.trim()}`;

const listed = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
};

const exitLines = (list = exitCodeList): string[] => listed(list.map(([code, text]) => [String(code), text]));

export function generalHelp(commands: readonly Command[]): string {
  return `${[
    "idem: run it twice, it happens once",
    "",
    "Usage: idem <command> [words] [options]",
    "",
    "Commands",
    ...listed(commands.map((command) => [command.name, command.summary])),
    "",
    "Options of commands on a store",
    ...listed(Object.entries(serverOptions).map(([name, option]) => [optionName(name, option), option.help])),
    "",
    "  idem <command> --help    what it takes, with examples",
    "  idem --version           the version",
    "",
    "Exit codes",
    ...exitLines(),
    "",
    "IDEM_DEBUG=1 adds stack traces to errors; NO_COLOR=1 leaves out colours.",
  ].join("\n")}\n`;
}

export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, help: { help: "this text" } });
  return `${[
    `${command.name}: ${command.summary}`,
    "",
    `Usage: ${usageLine(command)}`,
    ...(command.details === undefined ? [] : ["", ...command.details]),
    "",
    "Options",
    ...listed(options.map(([name, option]) => [optionName(name, option), option.help])),
    "",
    "Examples",
    ...command.examples.map((example) => `  ${example}`),
    "",
    "Exit codes",
    ...exitLines(command.exits?.list),
  ].join("\n")}\n`;
}
