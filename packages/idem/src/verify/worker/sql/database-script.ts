// The databases of a program as a world has them. Plain data: it crosses from the command to a thread.

/** A file of SQLite: each world has a copy of `image`, in its place. */
export interface SqliteScript {
  readonly kind: "sqlite";
  /** Where the user's code opens it, absolute. Never opened itself. */
  readonly file: string;
  /** As people call it. */
  readonly name: string;
  /** What it holds before a world; it need not be there. */
  readonly image: string;
}

export type DatabaseScript = SqliteScript;

export interface DatabasesScript {
  readonly databases: readonly DatabaseScript[];
  /** Modules are loaded to see what there is: what they set up then (tables that are made unless they are there) stays for all worlds. */
  readonly isSetUp: boolean;
}
