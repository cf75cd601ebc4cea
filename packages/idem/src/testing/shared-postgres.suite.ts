// A database for the tests of one file, on the one PostgreSQL server of the whole run (scripts/shared-postgres.mjs). Tests that change the server
// itself (its settings, log, standbys, crashes, roles) start one of their own with scripts/local-postgres.mjs.
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedPostgres: { readonly host: string; readonly port: number };
  }
}

export interface PostgresDatabase {
  readonly url: string;
  readonly port: number;
  readonly name: string;
  /** Ends all of its sessions. It goes with the run's server: to drop a database is a checkpoint, which every other file would pay for. */
  remove(): Promise<void>;
}

/** A fresh, empty database. What tests read of `pg_stat_activity` is of the whole server: compare `datname` with `current_database()`. */
export async function postgresDatabase(): Promise<PostgresDatabase> {
  const own = await newAddress();
  const name = own.pathname.slice(1);
  const server = new URL(own);
  server.pathname = "/postgres";
  await administer(server.href, `create database ${name} template template0`);
  return {
    url: own.href,
    port: Number(own.port),
    name,
    remove: () =>
      administer(server.href, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`),
  };
}

/** Of a database that does not exist yet. */
async function newAddress(): Promise<URL> {
  const { host, port } = inject("sharedPostgres");
  const socket = connect(port, host);
  await once(socket, "connect");
  const answer = (await text(socket)).trim();
  if (!answer.startsWith("postgres://")) throw new Error(`The run's PostgreSQL did not start: ${answer}`);
  return new URL(answer);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
