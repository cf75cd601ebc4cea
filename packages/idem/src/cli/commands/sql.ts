// idem sql: prints the toolkit's tables, for one's own migrations. It opens nothing.
import { type TableName, tableNames, tablesSql } from "../../toolkit/sql/tables.ts";
import type { Command } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";

const dialects = ["postgres", "sqlite"] as const;

const applied: Readonly<Record<(typeof dialects)[number], string>> = {
  postgres: 'npx idem sql | psql --single-transaction -v ON_ERROR_STOP=1 "$DATABASE_URL"',
  sqlite: "npx idem sql --dialect sqlite | sqlite3 -bail shop.db",
};

export const sql: Command = {
  name: "sql",
  summary: "print the tables that idem/http, idem/webhooks and idem/toolkit keep in your own database",
  whyNoServer: "it prints the tables of the toolkit and asks no store.",
  usage: "[--dialect <postgres>] [--only <table,…>]",
  words: { min: 0, max: 0 },
  options: {
    dialect: { value: "name", help: `${dialects.join(" or ")}; postgres unless given`, choices: dialects },
    only: { value: "tables", help: `some of them, separated by commas: ${tableNames.join(", ")}` },
  },
  details: [
    "They are plain SQL: pipe it, or put it where your migrations are. It may be applied again, and changes nothing then. The tables",
    "of the engine's own store are not among them; a node or idem migrate makes those.",
  ],
  examples: [
    "idem sql --only idempotency_keys",
    'idem sql | psql --single-transaction -v ON_ERROR_STOP=1 "$DATABASE_URL"',
    "idem sql --dialect sqlite | sqlite3 -bail shop.db",
  ],
  async run(context) {
    const dialect = dialects.find((known) => known === (context.options.dialect ?? "postgres"));
    if (dialect === undefined) {
      throw usage(`--dialect is "${context.options.dialect}"; it must be one of ${dialects.join(", ")}.`);
    }
    const names = context.options.only === undefined ? tableNames : context.options.only.split(",").map(tableOf);
    context.io.out.write(`-- ${dialect === "postgres" ? "PostgreSQL" : "SQLite"}. To apply: ${applied[dialect]}\n\n`);
    context.io.out.write(tablesSql(dialect, names));
    return exitCodes.ok;
  },
};

function tableOf(name: string): TableName {
  const known = tableNames.find((table) => table === name.trim());
  if (known === undefined) throw usage(`There is no table "${name.trim()}"; there are ${tableNames.join(", ")}.`);
  return known;
}
