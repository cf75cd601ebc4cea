// A server for the tests of one file, and a schema with a store for each test: for what the contract cannot ask.
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { withRealTimers } from "../../testing/real-timers.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { openWorld, type World } from "../contract/world.ts";
import { readAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { poolFor } from "./sessions.ts";
import { Statements } from "./statement.ts";

export interface Place {
  readonly world: World;
  readonly schema: string;
  readonly connection: Connection;
}

export function useServer() {
  let server: PostgresDatabase;
  let sessions: pg.Pool;
  let schemas = 0;
  beforeAll(async () => {
    server = await postgresDatabase();
    sessions = poolFor(pg, readAddress(`${server.url}?pool=4`), "test");
  });
  afterAll(async () => {
    await sessions.end();
    await server.remove();
  });
  const openPlace = async (): Promise<Place> => {
    const schema = `place${++schemas}`;
    const world = await openWorld(async () => {
      const clock = new ManualClock();
      const store = await openPostgresStore({
        url: `${server.url}?schema=${schema}&pool=4`,
        pg,
        platform: withRealTimers(clock),
        owner: "test",
        wallMs: () => clock.wallMs(),
      });
      return { store, clock };
    });
    return { world, schema, connection: new Connection(sessions, new Statements(schema), false) };
  };
  return { openPlace, sessions: () => sessions };
}
