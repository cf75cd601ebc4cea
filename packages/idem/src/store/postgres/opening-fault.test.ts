import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { openingFault } from "./opening-fault.ts";
import { openPostgresStore } from "./postgres-store.ts";

describe("why a store did not open has a code of its own, and “try again” only where it helps", () => {
  test.each([
    [{ code: "28P01", message: 'password authentication failed for user "shop"' }, "STORE_ACCESS_DENIED"],
    [{ code: "28000", message: 'role "shop" does not exist' }, "STORE_ACCESS_DENIED"],
    [{ code: "28000", message: 'no pg_hba.conf entry for host "10.0.0.1", no encryption' }, "STORE_TLS_REFUSED"],
    [{ code: "42501", message: "permission denied for schema idem" }, "STORE_ACCESS_DENIED"],
    [{ message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string" }, "STORE_ACCESS_DENIED"],
    [{ code: "3D000", message: 'database "shpo" does not exist' }, "STORE_MISSING"],
    [{ code: "ENOTFOUND", message: "getaddrinfo ENOTFOUND db.intrenal" }, "STORE_HOST_NOT_FOUND"],
    [{ message: "The server does not support SSL connections" }, "STORE_TLS_REFUSED"],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT", message: "self-signed certificate" }, "STORE_TLS_REFUSED"],
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "Hostname does not match" }, "STORE_TLS_REFUSED"],
    [{ code: "53300", message: "sorry, too many clients already" }, "STORE_TOO_MANY_SESSIONS"],
    [{ code: "08P01", message: "no more connections allowed (max_client_conn)" }, "STORE_TOO_MANY_SESSIONS"],
    [{ code: "08P01", message: "no such database: shpo" }, "STORE_MISSING"],
    [{ code: "08P01", message: "unsupported startup parameter: options" }, "STORE_URL_INVALID"],
    [{ code: "08P01", message: "transaction blocks not allowed in statement pooling mode" }, "STORE_URL_INVALID"],
    [{ code: "ENOENT", syscall: "open", message: "ENOENT: no such file, open 'ca.pem'" }, "STORE_URL_INVALID"],
    [{ code: "08P01", message: "SASL authentication failed" }, "STORE_ACCESS_DENIED"],
    [{ code: "XX000", message: "Tenant or user not found" }, "STORE_ACCESS_DENIED"],
    [{ message: "SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature does not match" }, "STORE_ACCESS_DENIED"],
    [{ code: "42P01", message: 'relation "meta" does not exist' }, "STORE_REFUSED"],
    [{ code: "XX001", message: "invalid page in block 7" }, "STORE_REFUSED"],
    [{ message: "Cannot read properties of undefined" }, "STORE_REFUSED"],
    // From here on: not ready yet.
    [{ code: "XX000", message: "MaxClientsInSessionMode: max clients reached" }, "STORE_TOO_MANY_SESSIONS"],
    [{ code: "ENOENT", syscall: "connect", message: "connect ENOENT /tmp/.s.PGSQL.5432" }, "STORE_UNAVAILABLE"],
    [{ code: "ECONNREFUSED", message: "" }, "STORE_UNAVAILABLE"],
    [{ code: "ECONNRESET", message: "read ECONNRESET" }, "STORE_UNAVAILABLE"],
    [{ code: "EHOSTUNREACH", message: "connect EHOSTUNREACH 10.0.0.1:5432" }, "STORE_UNAVAILABLE"],
    [{ code: "EAI_AGAIN", message: "getaddrinfo EAI_AGAIN db.internal" }, "STORE_UNAVAILABLE"],
    [
      {
        code: "ECONNRESET",
        message: "Client network socket disconnected before secure TLS connection was established",
      },
      "STORE_UNAVAILABLE",
    ],
    [{ message: "There was an error establishing an SSL connection" }, "STORE_UNAVAILABLE"],
    [{ message: "Connection terminated unexpectedly" }, "STORE_UNAVAILABLE"],
    [{ code: "57P03", message: "the database system is starting up" }, "STORE_UNAVAILABLE"],
    [{ code: "57P03", message: "the database system is in recovery mode" }, "STORE_UNAVAILABLE"],
    [{ code: "57P01", message: "terminating connection due to administrator command" }, "STORE_UNAVAILABLE"],
    [{ code: "57P02", message: "terminating connection because of crash" }, "STORE_UNAVAILABLE"],
    [{ code: "25006", message: "cannot execute CREATE TABLE in a read-only transaction" }, "STORE_UNAVAILABLE"],
    [{ code: "53200", message: "out of memory" }, "STORE_UNAVAILABLE"],
    [{ code: "55P03", message: "canceling statement due to lock timeout" }, "STORE_UNAVAILABLE"],
    [{ code: "08P01", message: "server login has been failing, try again later" }, "STORE_UNAVAILABLE"],
    [{ message: "timeout expired" }, "STORE_UNAVAILABLE"],
  ])("%j is %s", (said, code) => {
    const { message, ...facts } = said;
    const fault = openingFault(Object.assign(new Error(message), facts), "postgres://…@db.internal/shop");
    expect(fault.code).toBe(code);
    const passes = code === "STORE_UNAVAILABLE" || code === "STORE_TOO_MANY_SESSIONS";
    expect(fault.retry).toBe(passes ? "later" : "after-fix");
    if (!passes) expect(fault.message).not.toMatch(/try again/i);
  });
});

describe("a real server", () => {
  let server: PostgresDatabase;
  beforeAll(async () => {
    server = await postgresDatabase();
  });
  afterAll(() => server.remove());

  const open = (change: Partial<URL>) => {
    const url = Object.assign(new URL(server.url), change);
    return openPostgresStore({ url: url.href, pg, platform: nodePlatform, owner: "test" });
  };

  test.each<[string, Partial<URL>, string]>([
    ["a wrong password", { password: "s3cret" }, "STORE_ACCESS_DENIED"],
    ["no such role", { username: "nobody" }, "STORE_ACCESS_DENIED"],
    ["no such database", { pathname: "/shpo" }, "STORE_MISSING"],
    ["no such host", { hostname: "db.invalid" }, "STORE_HOST_NOT_FOUND"],
    ["TLS it does not have", { search: "?sslmode=verify-full" }, "STORE_TLS_REFUSED"],
    ["a certificate that is not there", { search: "?sslrootcert=no.pem" }, "STORE_URL_INVALID"],
    ["nobody there", { port: "1" }, "STORE_UNAVAILABLE"],
  ])("%s is told by its own code, and the password by none", async (_, change, code) => {
    const opening = open(change);
    await expect(opening).rejects.toMatchObject({ code });
    await expect(opening).rejects.toMatchObject({ message: expect.not.stringMatching(/s3cret|idem:idem/) });
  });

  test("takes no writes, as one that a proxy leads to before it is promoted: it is not ready yet", async () => {
    const opening = open({ search: "?options=-c%20default_transaction_read_only%3Don" });
    await expect(opening).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    await expect(opening).rejects.toThrow("the server takes no writes");
  });

  test("a pooler that passes over the settings of a session is recognised, too", async () => {
    class Ignoring extends pg.Client {
      constructor(config: pg.ClientConfig) {
        super({ ...config, options: "" });
      }
    }
    const driver = { types: pg.types, Pool: pg.Pool, Client: Ignoring as unknown as typeof pg.Client };
    const at = (url: string) => openPostgresStore({ url, pg: driver, platform: nodePlatform, owner: "test" });
    await expect(at(server.url)).rejects.toThrow('add "pooler=true" to the address');
    const store = await at(`${server.url}?pooler=true`);
    await store.close();
  });
});

/** What PgBouncer in transaction mode says to a session with settings of its own; nothing else of it is needed. */
async function pooler(): Promise<string> {
  const listener = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (startup) => {
      if (!startup.includes("options\0")) return;
      const fields = ["SFATAL", "C08P01", "Munsupported startup parameter: options"]
        .map((field) => `${field}\0`)
        .join("");
      const answer = Buffer.from(`E\0\0\0\0${fields}\0`);
      answer.writeInt32BE(answer.length - 1, 1);
      socket.end(answer);
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => void listener.close());
  return `postgres://shop:s3cret@127.0.0.1:${(listener.address() as AddressInfo).port}/shop`;
}

test("a pooler that takes no settings of a session is recognised, and what to add to the address is said", async () => {
  const opening = openPostgresStore({ url: await pooler(), pg, platform: nodePlatform, owner: "test" });
  await expect(opening).rejects.toMatchObject({ code: "STORE_URL_INVALID" });
  await expect(opening).rejects.toThrow('add "pooler=true" to the address');
  await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining("s3cret") });
});
