import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { fault, type Settings } from "./check-server.ts";
import { openPostgresStore } from "./postgres-store.ts";

describe("on a real server", () => {
  let server: LocalPostgres;
  let admin: pg.Client;
  beforeAll(async () => {
    server = await startLocalPostgres({ settings: { fsync: "off" } });
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await server.remove();
  });
  const open = (url = server.url) => openPostgresStore({ url, pg, platform: nodePlatform, owner: "test" });
  const schemas = async () => (await admin.query("select nspname from pg_namespace where nspname = 'idem'")).rows;

  test("one that was started with fsync=off is refused, and nothing is made there", async () => {
    await expect(open()).rejects.toMatchObject({
      code: "STORE_NOT_DURABLE",
      message: expect.stringContaining("fsync is off"),
    });
    expect(await schemas()).toEqual([]);
  });

  test("one with full_page_writes=off is refused", async () => {
    const other = await startLocalPostgres({ settings: { full_page_writes: "off" } });
    try {
      await expect(open(other.url)).rejects.toMatchObject({
        code: "STORE_NOT_DURABLE",
        message: expect.stringContaining("full_page_writes is off"),
      });
    } finally {
      await other.remove();
    }
  });

  test("the error names the server without its password", async () => {
    await expect(open()).rejects.toMatchObject({ message: expect.not.stringContaining("idem:idem") });
  });
});

describe("what is refused", () => {
  const sound: Settings = {
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
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
    [{ fsync: "off" }, "fsync is off"],
    [{ full_page_writes: "off" }, "full_page_writes is off"],
    [{ encoding: "SQL_ASCII" }, "SQL_ASCII"],
    [{ version: 130_022 }, "older than 14"],
  ])("%j", (setting, why) => {
    expect(fault({ ...sound, ...setting })).toContain(why);
  });
});
