import { expect, test } from "vitest";
import { useServer } from "./place.suite.ts";
import { Statistics } from "./refresh-statistics.ts";
import { quoted } from "./statement.ts";

const { openPlace, sessions } = useServer();

test("a process looks at tables anew while they are small to the planner, and never at one that it knows to be large", async () => {
  const { schema } = await openPlace();
  const fill = (count: number) =>
    sessions().query(
      `insert into ${quoted(schema)}.events (env, id, name, data, ts, received_at, stamp)
       select 'test', 'h' || n, 'n', '{}', 1, 1, n from generate_series(1, ${count}) n`,
    );
  await fill(12_000);
  await sessions().query(`analyze ${quoted(schema)}.events`);
  const asked: string[] = [];
  const pool = {
    query: async (sql: string, values?: unknown[]) => {
      asked.push(sql);
      return sessions().query(sql, values as never);
    },
  };
  const statistics = new Statistics(pool as never, schema);
  statistics.stored(499);
  expect(asked).toEqual([]);
  statistics.stored(1);
  while (!asked.some((sql) => sql.startsWith("analyze"))) await new Promise(setImmediate);
  const looked = asked.find((sql) => sql.startsWith("analyze"))!;
  expect(looked).toContain(`${quoted(schema)}."runs"`);
  expect(looked).not.toContain(`${quoted(schema)}."events"`);
});
