// The store at the end, through its own reads, over a way nobody cuts.
import pg from "pg";
import type { NodeUnderTest } from "./engine.ts";
import { env, readFacts, type StoreFacts } from "./read-store.ts";

export async function readPostgres(url: string, schema: string, engine: NodeUnderTest): Promise<StoreFacts> {
  const { nodePlatform, openPostgresStore, readAddress, poolFor, Connection, Statements, health } = engine;
  const store = await openPostgresStore({
    url: `${url}?schema=${schema}`,
    pg,
    platform: nodePlatform,
    owner: "torture",
  });
  const pool = poolFor(pg, readAddress(url), "torture");
  const connection = new Connection(pool, new Statements(schema), true);
  try {
    const orphaned = await health.runsOfUnknownWorkers(connection, env, 100);
    const jobless = await health.runsWithoutJob(connection, env, 100);
    const broken = await health.checkIntegrity(connection, schema);
    // Nobody sets the clock here: a step that a node took for one made leases last longer than they should.
    const steps = await connection.one<{ value: string }>("select value from meta where name = 'clock-steps'");
    const stepped = (steps?.value ?? "[]") === "[]" ? [] : [`the clock is said to have been stepped: ${steps!.value}`];
    return await readFacts(store.reads, {
      damage: [...broken, ...stepped],
      jobless: [...orphaned, ...jobless].map(({ runId }) => runId),
    });
  } finally {
    await pool.end();
    await store.close();
  }
}
