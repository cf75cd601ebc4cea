// Which names of events runs wait for, or waited for not long ago: for people who ask whether anybody listens.
import { afterAll } from "../id-times.ts";
import { awaitedIn } from "../waits.ts";
import type { Database } from "./database.ts";
import type { Rule } from "./rule.ts";

// A loose scan: one seek for each name, however many wait for it. So many names are no list for people any more.
const namesMax = 1_000;
const openSql = `
  with recursive awaited (name) as (
    select min(event_name) from waits where env = :env and event_name > ''
    union all
    select (select min(event_name) from waits where env = :env and event_name > awaited.name)
      from awaited where awaited.name is not null)
  select name from awaited where name is not null limit :limit`;
const floorSql = `
  select run_id as id from steps where env = :env and run_id < :before order by run_id desc limit 1 offset :skip`;
const recordedSql = `
  select input from steps
   where env = :env and run_id >= :floor and kind = 'wait-for-event' and input is not null
   order by run_id desc limit :limit`;

export function* awaitedNames(db: Database, env: string, examinedMax: number): Rule<readonly string[]> {
  const open = yield* db.find<{ name: string }>(openSql, { env, limit: namesMax });
  const [last] = yield* db.find<{ id: string }>(floorSql, { env, before: afterAll, skip: examinedMax - 1 });
  const asked = { env, floor: last?.id ?? "", limit: examinedMax };
  const recorded = yield* db.find<{ input: string }>(recordedSql, asked);
  return [...new Set([...open.map(({ name }) => name), ...recorded.flatMap(({ input }) => awaitedIn(input))])].sort();
}
