// The databases of a program as a world has them. Plain data: it crosses from the command to a thread.

/** A file of SQLite: each world has a copy of `image`, in its place. */
export interface SqliteScript {
  readonly kind: "sqlite";
  /** The path at which the user's code opens it, absolute. Never opened itself. */
  readonly file: string;
  /** As people call it. */
  readonly name: string;
  /** A file with its contents before a world; it need not be there. */
  readonly image: string;
}

/** Databases of a scratch server: each thread has one of its own, made of `template` and put back before each world. */
export interface PostgresScript {
  readonly kind: "postgres";
  /** The variable in which the user's code finds the address. */
  readonly env: string;
  /** As people call it. */
  readonly name: string;
  /** The address of the server, with a database that is only used to make others. */
  readonly server: string;
  /** The name of a database; those of threads have names that begin with it. */
  readonly template: string;
}

export type DatabaseScript = SqliteScript | PostgresScript;

export interface DatabasesScript {
  readonly databases: readonly DatabaseScript[];
  /** Modules are loaded to see what there is: what they set up then (tables that are made unless they are there) stays for all worlds. */
  readonly isSetUp: boolean;
}

/** The same server, another database. */
export function addressOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
