// Encrypted sessions with a real server, whose certificate an authority of ours vouches for.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { certify, makeAuthority } from "./certificates.suite.ts";
import { openPostgresStore } from "./postgres-store.ts";

let server: LocalPostgres;
const folder = mkdtempSync(join(tmpdir(), "idem-tls-"));
const [ours, another] = ["ours", "another"].map((name) => {
  const authority = makeAuthority(name);
  const file = join(folder, `${name}.pem`);
  writeFileSync(file, authority.cert);
  return { authority, file };
});
beforeAll(async () => {
  server = await startLocalPostgres({ tls: certify(ours!.authority, ["localhost"]) });
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true });
});

const open = (words: string, host = "localhost") =>
  openPostgresStore({
    url: `postgres://idem:idem@${host}:${server.port}/postgres?${words}`,
    pg,
    platform: nodePlatform,
    owner: "test",
  });

async function sessions(): Promise<{ readonly application_name: string; readonly ssl: boolean }[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(
    "select a.application_name, s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name like 'idem test%'",
  );
  await client.end();
  return rows;
}

test("with verify-full every session is encrypted, also where several hosts are named", async () => {
  for (const host of ["localhost", `localhost:1,localhost:${server.port}`]) {
    const url = `postgres://idem:idem@${host}${host.includes(",") ? "" : `:${server.port}`}/postgres?sslmode=verify-full&sslrootcert=${ours!.file}`;
    const store = await openPostgresStore({ url, pg, platform: nodePlatform, owner: "test" });
    const stop = store.shared!.subscribe(() => {});
    await store.heartbeat("w", 20_000);
    await expect.poll(async () => (await sessions()).map(({ ssl }) => ssl)).toEqual([true, true, true]);
    stop();
    await store.close();
  }
});

const untrusted = { code: "STORE_TLS_REFUSED", message: expect.stringContaining("sslrootcert=<file>") };
const misnamed = { code: "STORE_TLS_REFUSED", message: expect.stringContaining("must name the host") };

test.each([
  ["verify-full, and another authority", () => open(`sslmode=verify-full&sslrootcert=${another!.file}`), untrusted],
  ["verify-full, and nobody's word", () => open("sslmode=verify-full"), untrusted],
  [
    "verify-full, and a certificate of another name",
    () => open(`sslmode=verify-full&sslrootcert=${ours!.file}`, "127.0.0.1"),
    misnamed,
  ],
  ["require, which asks as much", () => open("sslmode=require"), untrusted],
  ["verify-ca, which asks as much", () => open(`sslmode=verify-ca&sslrootcert=${ours!.file}`, "127.0.0.1"), misnamed],
])("a server that nobody vouches for is refused: %s", async (_, opening, refused) => {
  await expect(opening()).rejects.toMatchObject(refused);
});

test("what is encrypted and not verified is so only where it is asked for by name", async () => {
  for (const words of ["sslmode=no-verify", "sslmode=require&uselibpqcompat=true"]) {
    const store = await open(words);
    await expect.poll(async () => (await sessions()).every(({ ssl }) => ssl)).toBe(true);
    await store.close();
  }
});
