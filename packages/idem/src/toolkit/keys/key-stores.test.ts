// The stores that come with the toolkit keep the promises of key-store.ts.
import pg from "pg";
import { afterAll, describe, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { eachDatabase } from "../sql/databases.suite.ts";
import { pgAdapter } from "../sql/pg.ts";
import type { OpenedKeyStore } from "./conformance/world.ts";
import { testInsertKey } from "./insert-key.suite.ts";
import { testInterlopers } from "./interlopers.suite.ts";
import { testHistory } from "./key-history.suite.ts";
import { keyStoreConformance } from "./key-store-conformance.ts";
import { memoryKeys } from "./memory-keys.ts";
import { testSqlKeys } from "./sql-keys.suite.ts";
import { sqlKeys } from "./sql-keys.ts";

describe("in memory", () => {
  keyStoreConformance({
    test,
    open: async () => {
      const platform = new ManualPlatform();
      const keys = memoryKeys({ platform });
      return { keys, another: () => keys, pass: async (ms) => platform.clock.advance(ms) };
    },
  });
});

// Slow machines are not tested here.
const options = { deadline: "30s" } as const;

eachDatabase((open, dialect) => {
  testSqlKeys(open, dialect);
  testInsertKey(open, dialect);
  testInterlopers(open, dialect);
  testHistory(open);

  if (dialect === "sqlite") {
    keyStoreConformance({
      test,
      open: async () => {
        const db = await open();
        return {
          keys: sqlKeys(db.adapter, options),
          another: () => sqlKeys(db.another(), options),
          pass: (ms) => db.age("idempotency_keys", ms),
        };
      },
    });
    return;
  }

  // Fifty tests with a schema and connections of their own would take longer to open than to run: they share one, emptied each time.
  let shared: Promise<pg.Pool[]> | undefined;
  afterAll(async () => {
    for (const pool of (await shared) ?? []) await pool.end();
  });
  const share = async (): Promise<pg.Pool[]> => {
    const { where } = await open();
    return Array.from({ length: 4 }, () => new pg.Pool({ connectionString: where, max: 10, idleTimeoutMillis: 0 }));
  };
  keyStoreConformance({
    test,
    open: async (): Promise<OpenedKeyStore> => {
      shared ??= share();
      const pools = await shared;
      await pools[0]!.query("delete from idempotency_keys");
      let opened = 0;
      const next = () => sqlKeys(pgAdapter(pools[opened++ % pools.length]!), options);
      return {
        keys: next(),
        another: next,
        pass: async (ms) => {
          await pools[0]!.query(
            `update idempotency_keys set lease_until = lease_until - ${ms}, due_at = due_at - ${ms}, created_at = created_at - ${ms},
                completed_at = completed_at - ${ms}, ends_at = ends_at - ${ms}`,
          );
        },
      };
    },
  });
});
