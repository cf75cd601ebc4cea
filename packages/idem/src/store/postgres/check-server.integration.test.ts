import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { fault, type Settings } from "./check-server.ts";
import { openPostgresStore } from "./postgres-store.ts";

describe("on a real server", () => {
  let server: LocalPostgres;
  beforeAll(async () => {
    server = await startLocalPostgres({ settings: { full_page_writes: "off" } });
  });
  afterAll(() => server.remove());
  const open = () => openPostgresStore({ url: server.url, pg, platform: nodePlatform, owner: "test" });
  const asAdministrator = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  test("one that was started with full_page_writes=off is refused, and nothing is made there", async () => {
    await expect(open()).rejects.toMatchObject({
      code: "STORE_NOT_DURABLE",
      message: expect.stringContaining("full_page_writes is off"),
    });
    expect(await asAdministrator("select 1 from pg_namespace where nspname = 'idem'")).toEqual([]);
  });

  test("one that was started with fsync=off is refused, and named without its password", async () => {
    await asAdministrator("alter system set fsync = off");
    await server.stop();
    await server.start();
    const refused = await open().catch((error) => error);
    expect(refused).toMatchObject({ code: "STORE_NOT_DURABLE", message: expect.stringContaining("fsync is off") });
    expect(refused.message).not.toContain("idem:idem");
  });
});

describe("what is refused", () => {
  const sound: Settings = {
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    synchronous_standby_names: "",
    in_recovery: false,
    version: 180_000,
    encoding: "UTF8",
  };

  test.each(["on", "local", "remote_write", "remote_apply"])("not synchronous_commit=%s", (synchronous_commit) => {
    expect(fault({ ...sound, synchronous_commit })).toBeNull();
  });

  test.each([
    [{ in_recovery: true }, "in recovery"],
    [{ synchronous_commit: "off" }, "synchronous_commit is off"],
    [
      { synchronous_commit: "local", synchronous_standby_names: "FIRST 1 (a)" },
      "local beside synchronous_standby_names",
    ],
    [{ fsync: "off" }, "fsync is off"],
    [{ full_page_writes: "off" }, "full_page_writes is off"],
    [{ encoding: "SQL_ASCII" }, "SQL_ASCII"],
    [{ version: 130_022 }, "older than 14"],
  ])("%j", (setting, why) => {
    expect(fault({ ...sound, ...setting })).toContain(why);
  });
});
