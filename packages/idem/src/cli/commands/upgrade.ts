// idem upgrade --check: what it takes to run this version on a store that an earlier one has. It looks and prints the commands; nothing is written.
import { packageVersion } from "../../platform/package-files.ts";
import { type MigrationWeight, weighMigration } from "../../store/weigh-migration.ts";
import { type Command, storeOptions } from "../command.ts";
import { type ExaminedSchema, examineSchema, versionOf } from "../examine-schema.ts";
import { exitCodes, usage } from "../exit.ts";
import type { StoreAddress } from "../find-store.ts";
import { printable } from "../printable.ts";

export const upgrade: Command = {
  name: "upgrade",
  summary: "say what it takes to run this version on a store, and whether anything is in the way",
  whyNoServer:
    "it looks at tables of whatever version before a server of this one opens them: run it where the store is, with --store.",
  usage: "--check",
  words: { min: 0, max: 0 },
  options: {
    check: { help: "look, and print the commands that do it; nothing is written" },
    store: storeOptions.store!,
    json: storeOptions.json!,
  },
  details: [
    "Says which version is installed here and which schema the store has, which migrations would run and whether they are quick or go over",
    "whole tables, how many runs are open, and which nodes have another version. Runs with the package you are about to deploy.",
  ],
  examples: ["idem upgrade --check", "idem upgrade --check --store postgres://idem@db.internal/shop --json"],
  exits: {
    list: [
      [exitCodes.ok, "nothing is to be done: the store is of this version, and so is every node"],
      [exitCodes.failed, "it can be upgraded, and what is to be done is printed"],
      [
        exitCodes.store,
        "it cannot be said, or cannot be done: the store is newer, has another history or does not open, or --check is missing",
      ],
    ],
    unable: exitCodes.store,
  },
  async run(context) {
    if (!context.flags.has("check")) {
      throw usage("Say --check: what it prints are the commands that upgrade; by itself this changes nothing.");
    }
    const address = context.storeAddress();
    const examined = await examineSchema(context.io, address);
    const { where, history, migrations, openRuns, nodes } = examined;
    const version = packageVersion();
    const found = versionOf(history, migrations);
    const pending = migrations
      .filter((each) => each.version > found)
      .map(({ name, sql }) => ({ name, ...weighMigration(sql) }));
    const others = nodes.filter((node) => node.version !== version);
    const needsChange = history.kind !== "current" || others.length > 0;
    const steps = needsChange ? stepsFor(address, examined, pending.length > 0 || history.kind === "unrecorded") : [];
    if (context.isJson) {
      const schema = { installed: migrations.at(-1)!.version, store: found };
      context.json({ version, store: where, schema, pending, openRuns, nodes, steps });
    } else {
      context.say(`idem ${version} is installed here, with schema version ${migrations.at(-1)!.version}.`);
      context.say(found === 0 ? `${where} has no tables of Idem yet.` : `${where} has schema version ${found}.`);
      if (history.kind === "unrecorded") {
        context.say(
          "It is of a build that kept no checksums: it is recognised by its tables, and what they lack is added.",
        );
      }
      if (pending.length > 0) {
        context.say(`${pending.length === 1 ? "One migration" : `${pending.length} migrations`} would run:`);
        for (const { name, ...weight } of pending) context.say(`  ${name.padEnd(24)}${weightWords(weight)}`);
      }
      context.say(openRuns === 1 ? "One run is open." : `${openRuns} runs are open.`);
      for (const { node, version: theirs } of others) {
        context.say(
          `${printable(node ?? "A node")} runs ${printable(theirs ?? "a version that says nothing of itself")}.`,
        );
      }
      if (steps.length === 0) context.say("Nothing is to be done.");
      else context.say(["To upgrade:", ...steps.map((step, i) => `  ${i + 1}. ${step}`)].join("\n"));
    }
    return needsChange ? exitCodes.failed : exitCodes.ok;
  },
};

function weightWords({ kind, tables }: MigrationWeight): string {
  const list = tables.join(", ");
  if (kind === "quick") return "quick on a store of any size";
  return kind === "reads" ? `reads every row of ${list}` : `changes rows of ${list}`;
}

function stepsFor(address: StoreAddress, { openRuns, nodes, where }: ExaminedSchema, migrates: boolean): string[] {
  const isFile = address.kind === "file";
  const store = isFile ? ` --store sqlite:${where}` : "";
  const code =
    openRuns === 0
      ? []
      : [`idem check-deploy <your module>${store}   whether open runs go on under the code you deploy`];
  if (!migrates)
    return [...code, "Replace the nodes named above, one by one: two versions run side by side meanwhile."];
  const copy = isFile
    ? `idem backup before-upgrade.db${store}`
    : "pg_dump of its schema (docs/postgres.md has the command): an older version does not open a newer store";
  const change = isFile
    ? `${nodes.length > 0 ? "Stop the process that has the file, and start" : "Start"} the new one: it migrates when it opens the file.`
    : "idem migrate   as the role that owns the schema; then replace the nodes one by one: two versions run side by side meanwhile";
  return [...code, copy, change, `idem doctor${store}`];
}
