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
    });
  });

  test("keeps Idem's own words from the driver, and leaves it its own", () => {
    const url = "postgresql://db.internal/shop?schema=idem_shop&sslmode=verify-full&pool=20&pooler=true";
    expect(readAddress(url)).toMatchObject({
      connectionString: "postgresql://db.internal/shop?sslmode=verify-full",
      schema: "idem_shop",
      poolSize: 20,
      isPooled: true,
    });
  });

  test.each([
    ["postgres://h/db?schema=", "1 to 63 characters"],
    [`postgres://h/db?schema=${"x".repeat(64)}`, "1 to 63 characters"],
    ["postgres://h/db?pool=1", "2 to 100"],
    ["postgres://h/db?pool=101", "2 to 100"],
    ["postgres://h/db?pool=many", "2 to 100"],
    ["postgres://h/db?pooler=yes", '"true" or "false"'],
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
    ["pool_size=4", 'did you mean "pool"?'],
    ["colour=blue", "there are schema, pool, txpool, pooler, and those of pg"],
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
