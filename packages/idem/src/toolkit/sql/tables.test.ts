import { expect, test } from "vitest";
import { fakeTerminal } from "../../cli/fake-terminal.ts";
import type { sqliteAdapter } from "./better-sqlite3.ts";
import { eachDatabase } from "./databases.suite.ts";
import { checkTables, ensureTables, readyTables, readyTablesSync } from "./ready-tables.ts";
import { releasedTables, tableNames, tableStatements, tablesSql } from "./tables.ts";

const postgresSchemaSql = `
  select table_name as table, column_name as name, data_type as what, is_nullable as more from information_schema.columns
   where table_schema = current_schema()
  union all select tablename, indexname, indexdef, '' from pg_indexes where schemaname = current_schema()
  order by 1, 2`;

const sqliteSchemaSql = `
  select tbl_name as "table", name, sql from sqlite_master where name not like 'sqlite_%' order by 1, 2`;

const all = ["idem_toolkit", "idem_toolkit_history", ...tableNames].join(", ");

eachDatabase((open, dialect) => {
  const empty = async () => {
    const db = await open();
    await db.run(`drop table ${dialect === "postgres" ? all : all.replaceAll(", ", "; drop table ")}`);
    return db;
  };

  test("what `idem sql` prints makes every table of a fresh database, and applied again changes nothing", async () => {
    const { run, rows } = await empty();
    const terminal = fakeTerminal({ cwd: "/" });
    expect(await terminal.run("sql", "--dialect", dialect)).toBe(0);
    const made = () => rows(dialect === "postgres" ? postgresSchemaSql : sqliteSchemaSql);
    expect(await made()).toEqual([]);
    await run(terminal.written.out);
    const first = await made();
    expect([...new Set(first.map(({ table }) => table))].sort()).toEqual(all.split(", ").sort());
    await run(terminal.written.out);
    expect(await made()).toEqual(first);
  });

  test("a database without the tables is told so, by name, with the command that makes them", async () => {
    const { adapter, run } = await empty();
    const missing = await checkTables(adapter).catch((error) => error);
    expect(missing).toMatchObject({ code: "TABLES_MISSING" });
    for (const name of tableNames) expect(missing.message).toContain(name);
    expect(missing.message).toContain("npx idem sql");
    await run(tablesSql(dialect, ["idempotency_keys"]));
    await checkTables(adapter, ["idempotency_keys"]);
    await expect(checkTables(adapter)).rejects.toThrow(/no table idem_/);
  });

  test("a table that was dropped is missing, whatever is noted about it", async () => {
    const { adapter, run } = await open();
    await run("drop table idempotency_keys");
    await expect(checkTables(adapter)).rejects.toThrow("no table idempotency_keys,");
    await ensureTables(adapter);
    await checkTables(adapter);
  });

  test("processes that make the tables at the same time all find them made", async () => {
    const { adapter, another } = await empty();
    await Promise.all([adapter, another(), another(), another()].map((each) => ensureTables(each)));
    await checkTables(adapter);
    await ensureTables(adapter);
  });

  test("an older table is refused with both versions, a newer one is not", async () => {
    const { adapter, run } = await open();
    await run("update idem_toolkit set version = 99");
    await checkTables(adapter);
    await run("update idem_toolkit set version = 0 where name = 'idempotency_keys'");
    await expect(checkTables(adapter)).rejects.toMatchObject({
      code: "TABLES_OUTDATED",
      message: expect.stringContaining("idempotency_keys has version 0, 1 is needed"),
    });
    // Tables that are there already are not touched, so making the missing ones does not help either.
    await expect(ensureTables(adapter)).rejects.toMatchObject({ code: "TABLES_OUTDATED" });
  });

  test("a table that was made by another file is refused with both checksums, and left as it was", async () => {
    const { adapter, run, rows } = await open();
    await run("update idem_toolkit_history set checksum = 'other' where name = 'idem_claims'");
    for (const look of [checkTables, ensureTables]) {
      await expect(look(adapter)).rejects.toMatchObject({
        code: "TABLES_DIFFER",
        facts: {
          table: "idem_claims",
          why: expect.stringMatching(/has the checksum other; here it is idem_claims with/),
        },
      });
    }
    expect(await rows("select checksum from idem_toolkit_history where name = 'idem_claims'")).toEqual([
      { checksum: "other" },
    ]);
    await checkTables(adapter, ["idem_inbox"]);
  });

  test("tables of a build without checksums are not used until they were recognised, which `idem sql` leaves to ensureTables; what somebody added stays", async () => {
    const { adapter, run, rows } = await open();
    await run("drop table idem_toolkit_history");
    await run("create index mine on idem_outbox (created_at)");
    const unrecorded = { code: "TABLES_UNRECORDED", facts: { tables: tableNames.join(", ") } };
    await expect(checkTables(adapter)).rejects.toMatchObject(unrecorded);
    await run(tablesSql(dialect));
    await expect(checkTables(adapter)).rejects.toMatchObject(unrecorded);
    await ensureTables(adapter);
    await checkTables(adapter);
    expect(await rows("select name, checksum from idem_toolkit_history order by name")).toEqual(
      [...tableNames].sort().map((name) => ({ name, checksum: releasedTables[dialect][name] })),
    );
    const indexes = dialect === "postgres" ? "pg_indexes where indexname" : "sqlite_master where name";
    expect(await rows(`select 1 as found from ${indexes} = 'mine'`)).toHaveLength(1);
  });

  test("a table that no build made is refused with what differs and what to do, and left as it was", async () => {
    const { adapter, run, rows } = await open();
    await run("drop table idem_toolkit_history");
    await run("alter table idem_claims drop column reason");
    const made = () => rows(dialect === "postgres" ? postgresSchemaSql : sqliteSchemaSql);
    const before = await made();
    await expect(ensureTables(adapter, ["idem_claims"])).rejects.toMatchObject({
      code: "TABLES_DIFFER",
      message: expect.stringMatching(
        /it says version 1, but .*idem_claims.*\. Compare it with what `npx idem sql` prints/,
      ),
    });
    expect(await made()).toEqual(before);
  });

  test("a table that was there before Idem's SQL was run is recognised like one of an earlier build", async () => {
    const { adapter, run } = await empty();
    await run("create table idem_claims (key text primary key)");
    await expect(run(tablesSql(dialect, ["idem_claims"]))).rejects.toThrow(/scope|state/);
    await run("drop table idem_claims");
    await run(
      "create table idem_inbox (source text not null, consumer text not null, id text not null, first_seen_at integer)",
    );
    await run(tablesSql(dialect, ["idem_inbox"]));
    await expect(checkTables(adapter, ["idem_inbox"])).rejects.toMatchObject({ code: "TABLES_UNRECORDED" });
    await expect(ensureTables(adapter, ["idem_inbox"])).rejects.toThrow(
      /idem_inbox is none that this Idem makes: it says version 1, but/,
    );
  });

  test("tables once found are not looked for again, tables not found are", async () => {
    const { adapter, run } = await empty();
    const names = ["idempotency_keys"] as const;
    await expect(readyTables(adapter, names)).rejects.toMatchObject({ code: "TABLES_MISSING" });
    await run(tablesSql(dialect));
    await readyTables(adapter, names);
    await run("drop table idem_toolkit");
    await readyTables(adapter, names);
    if (adapter.bodies !== "sync") return;
    const sync = adapter as ReturnType<typeof sqliteAdapter>;
    expect(() => sync.transactionSync((tx) => readyTablesSync(sync, tx, names))).toThrow(/no table idempotency_keys/);
    await run(tablesSql(dialect));
    sync.transactionSync((tx) => readyTablesSync(sync, tx, names));
    await run("drop table idem_toolkit");
    sync.transactionSync((tx) => readyTablesSync(sync, tx, names));
  });
});

test.each(["postgres", "sqlite"] as const)(
  "the statements of %s, one by one, are what is printed as one",
  (dialect) => {
    const statements = tableStatements(dialect, tableNames);
    for (const statement of statements)
      expect(statement).toMatch(/^(create (unique )?(table|index) if not exists|insert into) /);
    // One that was cut inside of quotes has an odd number of them.
    for (const statement of statements) expect(statement.split("'").length % 2).toBe(1);
    expect(statements.filter((statement) => statement.startsWith("insert")).length).toBe(2 * tableNames.length);
  },
);
