import { expect, test } from "vitest";
import { loadMigrations as ofPostgres } from "./postgres/migrations.ts";
import { loadMigrations as ofSqlite } from "./sqlite/migrations.ts";
import { weighMigration } from "./weigh-migration.ts";

test("a migration's weight is what its statements do to rows that are there", () => {
  const weights = (sql: string) => weighMigration(sql);
  expect(weights("-- update runs\ncreate table a (x); create index a_x on a (x); insert into a values (1);")).toEqual({
    kind: "quick",
    tables: [],
  });
  expect(weights("alter table runs add column code text; alter table a rename to b; drop table c")).toMatchObject({
    kind: "quick",
  });
  expect(weights("create index audit_by on audit (env)")).toEqual({ kind: "reads", tables: ["audit"] });
  expect(weights("create table a (x); insert into a select x from runs r join steps s on true")).toEqual({
    kind: "reads",
    tables: ["runs", "steps"],
  });
  expect(weights("update claims set scope = 'w' where scope = 'e'; create index i on runs (x)")).toEqual({
    kind: "rewrites",
    tables: ["claims"],
  });
  expect(weights("alter table runs drop column x")).toEqual({ kind: "rewrites", tables: ["runs"] });
});

test("of those that are shipped, what is not quick names tables that are there", () => {
  for (const migrations of [ofSqlite(), ofPostgres()]) {
    const heavy = migrations
      .slice(1)
      .map(({ name, sql }) => ({ name: name.slice(5), ...weighMigration(sql) }))
      .filter(({ kind }) => kind !== "quick");
    expect(heavy.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["audit_filters", "webhook_scope", "end_counts"]),
    );
    const tables = new Set(
      migrations.flatMap(({ sql }) => [...sql.matchAll(/create table "?(\w+)/g)].map(([, table]) => table!)),
    );
    for (const { tables: named } of heavy) expect(named.filter((table) => !tables.has(table))).toEqual([]);
  }
});
