import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readAddress, withoutPassword } from "./address.ts";

describe("an address", () => {
  test("has a schema, a pool and no pooler unless told", () => {
    expect(readAddress("postgres://idem@db.internal/shop")).toMatchObject({
      connectionString: "postgres://idem@db.internal/shop",
      schema: "idem",
      poolSize: 8,
      isPooled: false,
      hasHints: true,
    });
  });

  test("keeps Idem's own words from the driver, and leaves it its own", () => {
    const url = "postgresql://db.internal/shop?schema=idem_shop&sslmode=verify-full&pool=20&pooler=true&hints=false";
    expect(readAddress(url)).toMatchObject({
      connectionString: "postgresql://db.internal/shop?sslmode=verify-full",
      schema: "idem_shop",
      poolSize: 20,
      isPooled: true,
      hasHints: false,
    });
  });

  test.each([
    ["postgres://h/db?schema=", "1 to 63 characters"],
    [`postgres://h/db?schema=${"x".repeat(64)}`, "1 to 63 characters"],
    ["postgres://h/db?pool=1", "2 to 100"],
    ["postgres://h/db?pool=101", "2 to 100"],
    ["postgres://h/db?pool=many", "2 to 100"],
    ["postgres://h/db?pooler=yes", '"true" or "false"'],
    ["postgres://h/db?hints=0", 'hints must be "true" or "false"'],
    ["postgres://h/db?sslmode=verify_full", 'did you mean "verify-full"?'],
    ["postgres://h/db?sslmode=allow", "sslmode must be disable, no-verify, prefer"],
    ["postgres://h:port/db", "cannot be read as a URL"],
  ])("%s is refused with what is wrong", (url, why) => {
    expect(() => readAddress(url)).toThrow(expect.objectContaining({ code: "STORE_URL_INVALID" }));
    expect(() => readAddress(url)).toThrow(why);
  });

  test.each([
    ["shcema=production", '"shcema" is not a parameter of an address; did you mean "schema"?'],
    ["Schema=production", 'did you mean "schema"?'],
    ["sslMode=verify-full", 'did you mean "sslmode"?'],
    ["pgbouncer=true", 'did you mean "pooler=true"?'],
    ["listen=false", 'did you mean "hints=false"?'],
    ["pool_size=4", 'did you mean "pool"?'],
    ["colour=blue", "there are schema, pool, txpool, pooler, hints, and those of pg"],
    ["schema=a&schema=b", '"schema" is given twice'],
  ])("whose parameters are %s is refused with the word that was meant", (parameters, why) => {
    const url = `postgres://shop:s3cret@h/db?${parameters}`;
    expect(() => readAddress(url)).toThrow(expect.objectContaining({ code: "STORE_URL_INVALID" }));
    expect(() => readAddress(url)).toThrow(why);
  });

  test("may carry the words providers write into it", () => {
    const url = "postgres://shop@h/db?sslmode=verify-full&channel_binding=require&connect_timeout=10&schema=x";
    expect(readAddress(url)).toMatchObject({ schema: "x" });
  });

  test("may name several hosts, each with a port of its own or the usual one", () => {
    const { hosts, mayBeReadOnly, connectionString } = readAddress(
      "postgres://shop:s3cret@a.internal,b.internal:5433,[::1]:6/db?target_session_attrs=read-write&schema=x",
    );
    expect(hosts).toEqual([
      { host: "a.internal", port: null },
      { host: "b.internal", port: 5433 },
      { host: "::1", port: 6 },
    ]);
    expect(mayBeReadOnly).toBe(false);
    expect(connectionString).toBe("postgres://shop:s3cret@a.internal/db");
    expect(readAddress("postgres://a:1,b/db?target_session_attrs=any").mayBeReadOnly).toBe(true);
    expect(readAddress("postgres://shop@a/db").hosts).toEqual([]);
  });

  test.each([
    ["postgres://a,b/db?target_session_attrs=standby", '"read-write", "primary" or "any"'],
    ["postgres://a,/db", "host or host:port"],
    ["postgres://a,b:many/db", "host or host:port"],
    ["postgres:///db?host=a,b", "before the path"],
    ["postgres://h/db?query_timeout=30000", "from 10001 to 15000 milliseconds: longer than a lock is waited for"],
    ["postgres://h/db?query_timeout=5000", "shorter than a lease is trusted"],
  ])("%s contradicts what a node needs, and is refused with what it may be", (url, why) => {
    expect(() => readAddress(url)).toThrow(expect.objectContaining({ code: "STORE_URL_INVALID" }));
    expect(() => readAddress(url)).toThrow(why);
  });

  test("keeps settings of the user's beside Idem's own, and a time-out that fits the lease", () => {
    expect(readAddress("postgres://h/db?options=-c%20work_mem%3D8MB&query_timeout=14000")).toMatchObject({
      options: "-c work_mem=8MB",
      queryTimeoutMs: 14_000,
      connectionString: "postgres://h/db",
    });
  });

  test("a refused address is named without its password", () => {
    expect(() => readAddress("postgres://shop:s3cret@h/db?pool=0")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("s3cret") }),
    );
  });
});

describe("what is left out", () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    ["postgres://", { host: "db.internal", port: 6543, user: "shop", password: "s3cret", database: "orders" }],
    ["postgres:///other?schema=x", { host: "db.internal", user: "shop", database: "other" }],
    ["postgres://h/db", { host: "h", port: 6543, user: "shop", password: "s3cret", database: "db" }],
    ["postgres://u:p@h:1/db", { host: "h", port: 1, user: "u", password: "p", database: "db" }],
  ])("comes from PG* variables: %s", (url, expected) => {
    for (const [name, value] of [
      ["PGHOST", "db.internal"],
      ["PGPORT", "6543"],
      ["PGUSER", "shop"],
      ["PGPASSWORD", "s3cret"],
      ["PGDATABASE", "orders"],
    ] as const) {
      vi.stubEnv(name, value);
    }
    expect(new pg.Client({ connectionString: readAddress(url).connectionString })).toMatchObject(expected);
  });
});

describe("an address that is shown", () => {
  test.each([
    [
      "postgres://shop:s3cret@db.internal:5432/shop?schema=x&pool=4",
      "postgres://…@db.internal:5432/shop?schema=x&pool=4",
    ],
    ["postgres://db.internal/shop", "postgres://db.internal/shop"],
    ["postgres://shop@db.internal/shop", "postgres://…@db.internal/shop"],
    [
      "postgres://db.internal/shop?user=shop&password=s3cret&sslmode=require",
      "postgres://db.internal/shop?sslmode=require",
    ],
    ["postgres://db.internal/shop?p%61ssword=s3cret", "postgres://db.internal/shop"],
    ["postgres://shop:s3/cret@db.internal/shop", "postgres://…@db.internal/shop"],
    ["postgres://shop:s3?cret@db.internal/shop", "postgres://…@db.internal/shop"],
    ["postgres://shop:a@s3cret@db.internal/shop", "postgres://…@db.internal/shop"],
    ["postgres://shop:1/s3cret@db.internal/shop", "postgres://…@db.internal/shop"],
    ["postgres:shop:s3cret@db.internal/shop", "postgres:…@db.internal/shop"],
    ["shop:s3cret@db.internal/shop", "shop:…@db.internal/shop"],
    ["mysql://shop:s3cret\n@db.internal/shop", "mysql://…@db.internal/shop"],
  ])("%j has no password", (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
  });
});
