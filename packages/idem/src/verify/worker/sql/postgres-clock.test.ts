import { expect, test } from "vitest";
import { onWorldTime } from "./postgres-clock.ts";

const clock = "idem_verify_world.now()";

test.each([
  ["select now()", `select ${clock}`],
  [
    "select * from holds where until < NOW() - interval '1 day'",
    `select * from holds where until < ${clock} - interval '1 day'`,
  ],
  ["insert into t (at) values (current_timestamp)", `insert into t (at) values (${clock})`],
  ["select current_timestamp(3), pg_catalog.now()", `select ${clock}, ${clock}`],
  ["select current_date, localtimestamp", `select (${clock}::date), (${clock}::timestamp)`],
  ["select extract(epoch from clock_timestamp())", `select extract(epoch from ${clock})`],
])("what tells the time in %s tells the world's", (sql, told) => {
  expect(onWorldTime(sql)).toBe(told);
});

test.each([
  "select 'now()'",
  "select E'it\\'s now()'",
  'select "current_date" from t',
  "select 1 -- now()",
  "select 1 /* now() */",
  "do $body$ begin perform now(); end $body$",
  "select known()",
  "select mine.now()",
  "select now from t",
])("what only looks like it stays as it is: %s", (sql) => {
  expect(onWorldTime(sql)).toBe(sql);
});
