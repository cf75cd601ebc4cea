// The planner must know early how tables have grown: plans made on empty ones cost a third of the throughput until statistics change
// (5,900 → 8,300 runs/s, docs/reference/stores.md#statistics), and the server looks by itself only once a minute. Only the tables' owner may do this; for
// anyone else the server's own round has to do.
import type { Pool } from "pg";
import { quoted, tableNames } from "./statement.ts";

/** After so many events of this process. */
const afterEvents = [500, 5_000, 50_000] as const;

// So many times as many rows as events: what this process added does not change a plan.
const knownTimes = 20;
// Minus one where nobody has looked yet.
const smallSql = `
  select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = $1 and c.relkind = 'r' and c.relname = any($2) and c.reltuples < $3`;

export class Statistics {
  private events = 0;
  private done = 0;

  constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  stored(events: number): void {
    this.events += events;
    const next = afterEvents[this.done];
    if (next === undefined || this.events < next) return;
    this.done++;
    this.refresh(next).catch(() => {});
  }

  /** Of tables that the planner does not know to be large already: of such a one it reads up to 30,000 pages, for plans that stay as they are. */
  private async refresh(events: number): Promise<void> {
    const { rows } = await this.pool.query<{ name: string }>(smallSql, [this.schema, tableNames, events * knownTimes]);
    if (rows.length === 0) return;
    await this.pool.query(`analyze ${rows.map(({ name }) => `${quoted(this.schema)}.${quoted(name)}`).join(", ")}`);
  }
}
