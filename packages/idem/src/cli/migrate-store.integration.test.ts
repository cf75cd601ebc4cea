import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { busyStore } from "../store/transfer/busy-store.suite.ts";
import { PostgresTarget } from "../store/transfer/postgres-target.ts";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { temporaryFolder } from "./store-world.ts";

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

// The busy store has a source of webhooks, in clear.
const terminalIn = (cwd: string) => fakeTerminal({ cwd, platform: nodePlatform, env: { IDEM_SECRETS_IN_CLEAR: "1" } });

describe("idem migrate-store", () => {
  test("says of every table that it is the same, keeps the password to itself, and leaves a file that can be read and not opened", async () => {
    const { path } = await busyStore();
    const terminal = terminalIn(temporaryFolder());
    const from = `sqlite:${path}`;
    expect([await terminal.run("migrate-store", from, `${server.url}?schema=one`), terminal.written.err]).toEqual([
      0,
      "",
    ]);
    const { out } = terminal.written;
    expect(out).toMatch(/^TABLE +ROWS +MOVED +HASH/);
    for (const name of ["events", "claims", "runs", "steps", "waits", "crons", "meta"]) {
      expect(out).toMatch(new RegExp(`^${name} +(\\d+) +\\1 +([0-9a-f]{16}) +\\2 +same$`, "m"));
    }
    expect(out).toContain(`${path} was moved to postgres://…@127.0.0.1`);
    expect(out).not.toContain("idem:idem@");

    expect(await terminal.json("runs", "--store", from, "--state", "waiting")).not.toEqual([]);
    expect(await terminal.run("send", "order/paid", "--store", from)).toBe(3);
    expect(terminal.written.err).toContain("STORE_MOVED");
    expect(await terminal.run("migrate-store", from, `${server.url}?schema=two`)).toBe(3);
    expect(terminal.written.err).toContain("postgres://…@127.0.0.1");

    expect(await terminal.json("migrate-store", "--reopen", from)).toMatchObject({ store: path });
    expect(await terminal.run("send", "order/paid", "--store", from)).toBe(0);
    expect(await terminal.run("migrate-store", "--reopen", from)).toBe(1);
  });

  test("names the table that arrived otherwise, exits with 1, and leaves the file as it was", async () => {
    const { path } = await busyStore();
    const url = `${server.url}?schema=spoilt`;
    await (await PostgresTarget.open(pg, url)).close();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`
      create function spoilt.spoil() returns trigger language plpgsql as 'begin new.asked := new.asked + 1; return new; end';
      create trigger spoil before insert on spoilt.claims for each row execute function spoilt.spoil()`);
    await client.end();
    const terminal = terminalIn(temporaryFolder());
    expect(await terminal.run("migrate-store", `sqlite:${path}`, url)).toBe(1);
    expect(terminal.written.out).toMatch(/^claims .* DIFFERENT$/m);
    expect(terminal.written.out).toMatch(/^runs .* same$/m);
    expect(terminal.written.err).toContain(`is not what ${path} has: claims`);
    expect(await terminal.run("send", "order/paid", "--store", `sqlite:${path}`)).toBe(0);
  });

  test("carries no secret in clear into a shared database unless it was said so; sealed ones arrive sealed, under the same key", async () => {
    const { path } = await busyStore();
    const from = `sqlite:${path}`;
    const env: Record<string, string> = {};
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env });
    const kept = async (schema: string) => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client.query(`select value from ${schema}.settings where kind = 'webhook-source'`);
      await client.end();
      return rows.map(({ value }) => String(value));
    };
    expect(await terminal.run("migrate-store", from, `${server.url}?schema=sealed`)).not.toBe(0);
    expect(terminal.written.err).toContain("SECRETS_IN_CLEAR");

    env.IDEM_SECRET_KEY = "11".repeat(32);
    expect(await terminal.json("secret", "rotate", "--store", from)).toEqual({ sealed: 1, same: 0 });
    expect(await terminal.run("migrate-store", from, `${server.url}?schema=sealed`)).toBe(0);
    expect(await kept("sealed")).toEqual([expect.stringContaining("idem-sealed:1:")]);

    const clear = `sqlite:${(await busyStore()).path}`;
    delete env.IDEM_SECRET_KEY;
    env.IDEM_SECRETS_IN_CLEAR = "1";
    expect(await terminal.run("migrate-store", clear, `${server.url}?schema=clear`)).toBe(0);
    expect(await kept("clear")).toEqual([expect.not.stringContaining("idem-sealed")]);

    // The database itself takes none either.
    delete env.IDEM_SECRETS_IN_CLEAR;
    env.SHOP = "whsec_of_the_shop";
    const made = ["--provider", "stripe", "--secret-env", "SHOP", "--store", `${server.url}?schema=clear`];
    const second = ["webhooks", "add", "second", ...made];
    expect(await terminal.run(...second)).not.toBe(0);
    expect(terminal.written.err).toContain("SECRETS_IN_CLEAR");
    expect(await kept("clear")).toHaveLength(1);
    env.IDEM_SECRET_KEY = "11".repeat(32);
    expect(await terminal.run(...second)).toBe(0);
    expect(await kept("clear")).toContainEqual(expect.stringContaining("idem-sealed:1:"));
  });

  test("refuses what it cannot do before anything is changed", async () => {
    const { path } = await busyStore();
    const terminal = terminalIn(temporaryFolder());
    const from = `sqlite:${path}`;
    for (const [args, code, words] of [
      [[from], 2, "Say where to"],
      [[from, "sqlite:./other.db"], 2, "Say where to"],
      [["--reopen", from, server.url], 2, "one store"],
      [["sqlite:./none.db", server.url], 3, "no such file"],
      [[from, "postgres://idem:idem@127.0.0.1:1/postgres"], 3, "STORE_UNAVAILABLE"],
      [[from, `${server.url}?pool=1`], 3, "STORE_URL_INVALID"],
      [["--reopen", from], 1, "was not moved"],
    ] as const) {
      expect([args, await terminal.run("migrate-store", ...args)]).toEqual([args, code]);
      expect(terminal.written.err).toContain(words);
    }
    expect(await terminal.run("send", "order/paid", "--store", from)).toBe(0);
  });
});
