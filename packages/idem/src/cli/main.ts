// The command line. What it can do in this version is to say what it is; commands on a store come with it as they are built.
import { readPackageText } from "../platform/package-files.ts";

const help = `idem: run it twice, it happens once

Usage
  idem --help       this text
  idem --version    the version

Idem lives in your own process:

  import { Idem } from "idem";
  const idem = new Idem({ id: "shop" });

The README shows the rest.
`;

export async function main(args: readonly string[]): Promise<number> {
  const [command] = args;
  if (command === undefined || command === "--help" || command === "-h" || command === "help") {
    process.stdout.write(help);
    return 0;
  }
  if (command === "--version" || command === "-v") {
    const { version } = JSON.parse(readPackageText("../package.json")) as { version: string };
    process.stdout.write(`${version}\n`);
    return 0;
  }
  process.stderr.write(`idem: there is no command "${command}". Try "idem --help".\n`);
  return 2;
}
