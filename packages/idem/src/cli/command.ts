// A command: its words for people, its options for the parser and the shells, and what it does.
import { parseDuration } from "../model/duration.ts";
import type { Idem } from "../sdk/client.ts";
import type { Ask } from "../sdk/owner-desk.ts";
import type { ReadOnlyStore } from "../store/postgres/read-only-store.ts";
import type { StoreReads } from "../store/reads.ts";
import type { Connection } from "../store/sqlite/connection.ts";
import { usage } from "./exit.ts";
import type { StoreAddress } from "./find-store.ts";
import type { Paint } from "./paint.ts";
import type { ServerLine } from "./server-line.ts";
import type { Io } from "./terminal.ts";
import type { ToolReads } from "./tool-reads.ts";

export interface Option {
  /** The name of its value in help; a flag has none. */
  readonly value?: string;
  readonly help: string;
  /** Offered by shells. */
  readonly choices?: readonly string[];
  /** One letter that means the same. */
  readonly short?: string;
  /** May be given more than once; its values are in `lists`. */
  readonly isMany?: true;
  /** Its value may be left out, and is empty then: what follows is the value only if it looks like this. */
  readonly looks?: RegExp;
}

export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** After the command's name: `<id>`, `[--once]`. */
  readonly usage: string;
  /** Words it takes beside options. */
  readonly words: { readonly min: number; readonly max: number };
  readonly options: Readonly<Record<string, Option>>;
  readonly details?: readonly string[];
  readonly examples: readonly string[];
  /** Why it cannot be asked of a server elsewhere; those that can have `serverOptions`. */
  readonly whyNoServer?: string;
  /** Where the usual exit codes mean something else: all of its own, and the one for whatever keeps it from running. */
  readonly exits?: { readonly list: readonly (readonly [number, string])[]; readonly unable: number };
  run(context: Context): Promise<number>;
}

/** Where a store is kept, and what only the doctor and the copiers need of it. */
export type Place = FilePlace | ServerPlace | ElsewherePlace;

export interface FilePlace {
  readonly kind: "file";
  readonly path: string;
  readonly connection: Connection;
  readonly schemaVersion: number;
}

export interface ServerPlace extends Omit<ReadOnlyStore, "store"> {
  readonly kind: "server";
}

/** Whatever an Idem server has: asked over HTTP. */
export interface ElsewherePlace {
  readonly kind: "elsewhere";
  readonly where: string;
}

/** The store as a reading command sees it. */
export interface Reading {
  /** Its name for people: the path of its file, or its address without what is secret. */
  readonly store: string;
  readonly env: string;
  /** For its reads; it is not started and cannot write. */
  readonly idem: Idem;
  readonly reads: StoreReads;
  readonly rows: ToolReads;
  readonly place: Place;
  /** The file's; a store on a server is refused. */
  readonly connection: Connection;
  /** A function's name for people: its own id where the app is clear. */
  nameOf(fn: string): string;
  /** From what people write to the function's full name. */
  slugOf(name: string): string;
}

export interface Context {
  readonly io: Io;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Values of options that may be given more than once. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  readonly flags: ReadonlySet<string>;
  readonly env: string;
  readonly isJson: boolean;
  readonly paint: Paint;
  now(): number;
  /** Where the store is; refuses when that is not clear. */
  storeAddress(): StoreAddress;
  /** Where the store's file is; refuses also when it is on a server. */
  storePath(): string;
  /** Opens the store for reading, for as long as `body` takes; another environment of it where one is given. */
  read<T>(body: (reading: Reading) => Promise<T>, env?: string): Promise<T>;
  /** Reaches the file's owner, takes the file when it has none, or joins a server's nodes, for as long as `body` takes. */
  write<T>(body: (ask: Ask) => Promise<T>): Promise<T>;
  /** The server that is asked instead of a store; null where a store is. For what has a route of its own. */
  server(): Promise<ServerLine | null>;
  /** One line for people on standard output. */
  say(line: string): void;
  /** One JSON document on standard output. */
  json(value: unknown): void;
  /** A remark beside the answer, on standard error. */
  remark(line: string): void;
}

/** Options every command on a store has. */
export const storeOptions: Readonly<Record<string, Option>> = {
  store: {
    value: "address",
    help: "the store, sqlite:<path> or postgres://…; IDEM_STORE, else the only *.db in ./.idem, unless given",
  },
  env: { value: "name", help: 'the environment; "default" unless given' },
  app: { value: "id", help: "whose functions are called by their short names; the only app unless given" },
  json: { help: "one JSON document for programs instead of text for people" },
};

/** Options of those that a server elsewhere answers as well. */
export const serverOptions: Readonly<Record<string, Option>> = {
  ...storeOptions,
  server: {
    value: "url",
    help: "an Idem server instead of a store: https://idem.example.com; IDEM_SERVER where no store is given",
  },
  "signing-key": {
    value: "key",
    help: "with --server: a signing key of the environment; IDEM_SIGNING_KEY, else IDEM_PASSWORD, unless given",
  },
};

export function countOption(context: Context, name: string, otherwise: number, max: number): number {
  const text = context.options[name];
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > max) {
    throw usage(`--${name} is "${text}"; it must be a whole number from 1 to ${max}.`);
  }
  return count;
}

export function durationOption(context: Context, name: string, otherwise: number): number {
  const text = context.options[name];
  return text === undefined ? otherwise : parseDuration(text, `--${name}`);
}
