// The planner must know early how tables have grown: plans made on empty ones cost a third of the throughput until statistics change
// (5,900 → 8,300 runs/s, docs/reference/stores.md#statistics), and the server looks by itself only once a minute. Only the tables' owner may do this; for
// anyone else the server's own round has to do.
import type { Pool } from "pg";
import { quoted, tableNames } from "./statement.ts";

/** After so many events of this process. */
const afterEvents = [500, 5_000, 50_000] as const;

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
    const tables = tableNames.map((table) => `${quoted(this.schema)}.${table}`);
    this.pool.query(`analyze ${tables.join(", ")}`).catch(() => {});
  }
}
