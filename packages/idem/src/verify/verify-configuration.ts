// The data of idem.verify.ts. Its `env` and `load` are read by the thread that loads the program. Pure.
import { nearestWord } from "../model/nearest-word.ts";
import type { Json } from "./thing.ts";
import { type Accepted, readAccepted } from "./verify-memory.ts";
import type { Fixture } from "./worker/world-script.ts";

/** An event as people write it down. */
export interface WrittenEvent {
  readonly name: string;
  readonly data?: Json;
  readonly id?: string;
}

export interface FunctionSettings {
  readonly event?: WrittenEvent;
  /** The data of another entity's event, where it cannot be made from the event's. */
  readonly twin?: Json;
  /** The field of the data that says which entity it is about. */
  readonly entity?: string;
  /** The data of what its runs wait for, by the event's or the signal's name; a star stands for anything. */
  readonly waits?: Readonly<Record<string, Json>>;
}

/** A database of the program's: a file, of which each world has a copy, or a server's, whose address stands in this variable. */
export type ConfiguredDatabase =
  | { readonly file: string }
  | {
      readonly env: string;
      /** The project's own command that makes its tables, given the variable. */
      readonly migrate?: string;
    };

export interface VerifyConfiguration {
  /** Verified where the command names nothing, from the configuration's folder. */
  readonly modules: readonly string[];
  readonly fixtures: readonly Fixture[];
  readonly functions: Readonly<Record<string, FunctionSettings>>;
  readonly accept: readonly Accepted[];
  readonly databases: readonly ConfiguredDatabase[];
}

export const noConfiguration: VerifyConfiguration = {
  modules: [],
  fixtures: [],
  functions: {},
  accept: [],
  databases: [],
};

type Written = { readonly [name: string]: Json };

const isRecord = (value: unknown): value is Written =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const strangeIn = (value: Written, known: readonly string[]): string | null => {
  const strange = Object.keys(value).find((name) => !known.includes(name));
  if (strange === undefined) return null;
  const near = nearestWord(strange, known);
  return `"${strange}" means nothing there${near === null ? `; it may have ${known.join(", ")}` : `; did you mean "${near}"?`}`;
};

/** The fault of an event; null for none. */
export function wrongEvent(event: unknown): string | null {
  if (!isRecord(event)) return "an event must be an object: { name, data }";
  if (typeof event.name !== "string" || event.name === "") return "an event has no `name`";
  if (event.id !== undefined && typeof event.id !== "string") return `the \`id\` of "${event.name}" must be a string`;
  return null;
}

/** The configuration, or what is wrong with it. */
export function readConfiguration(written: unknown): VerifyConfiguration | string {
  if (!isRecord(written)) return "its default export must be an object";
  const strange = strangeIn(written, ["load", "env", "modules", "fixtures", "functions", "accept", "databases"]);
  if (strange !== null) return strange;
  const { modules = [], fixtures = [], functions = {}, accept = [], databases = [], env = {} } = written;
  if (!isRecord(env) || !Object.values(env).every((value) => typeof value === "string")) {
    return "`env` must hold strings by the names of variables";
  }
  if (!Array.isArray(modules) || !modules.every((each) => typeof each === "string")) {
    return "`modules` must be a list of files";
  }
  const wrong = wrongFixtures(fixtures) ?? wrongFunctions(functions) ?? wrongDatabases(databases);
  if (wrong !== null) return wrong;
  const accepted = readAccepted(accept);
  if (typeof accepted === "string") return accepted;
  return {
    modules: modules as readonly string[],
    fixtures: fixtures as unknown as readonly Fixture[],
    functions: functions as VerifyConfiguration["functions"],
    accept: accepted,
    databases: databases as unknown as readonly ConfiguredDatabase[],
  };
}

function wrongFixtures(fixtures: Json): string | null {
  if (!Array.isArray(fixtures)) return "`fixtures` must be a list of { method, host, path, status, body }";
  for (const fixture of fixtures as readonly Json[]) {
    if (!isRecord(fixture)) return "`fixtures` must be a list of { method, host, path, status, body }";
    const missing = ["method", "host", "path"].find((name) => typeof fixture[name] !== "string");
    if (missing !== undefined) return `a fixture has no \`${missing}\``;
    const strange = strangeIn(fixture, ["method", "host", "path", "status", "body"]);
    if (strange !== null) return `a fixture of ${fixture.host}: ${strange}`;
  }
  return null;
}

function wrongFunctions(functions: Json): string | null {
  if (!isRecord(functions)) return "`functions` must hold { event, twin, entity, waits } by the ids of functions";
  for (const [id, settings] of Object.entries(functions)) {
    if (!isRecord(settings)) return `\`functions\`: what is said of "${id}" must be an object`;
    const strange = strangeIn(settings, ["event", "twin", "entity", "waits"]);
    if (strange !== null) return `what is said of "${id}": ${strange}`;
    const wrong = settings.event === undefined ? null : wrongEvent(settings.event);
    if (wrong !== null) return `what is said of "${id}": ${wrong}`;
    if (settings.entity !== undefined && typeof settings.entity !== "string") {
      return `\`entity\` of "${id}" must be the name of a field`;
    }
    if (settings.waits !== undefined && !isRecord(settings.waits)) {
      return `\`waits\` of "${id}" must hold data by the names of events and signals`;
    }
  }
  return null;
}

const databaseShape =
  '`databases` must be a list of { file: "./app.db" } and { env: "DATABASE_URL", migrate: "npm run migrate" }';

function wrongDatabases(databases: Json): string | null {
  if (!Array.isArray(databases)) return databaseShape;
  for (const database of databases as readonly Json[]) {
    if (!isRecord(database)) return databaseShape;
    const strange = strangeIn(database, "file" in database ? ["file"] : ["env", "migrate"]);
    if (strange !== null) return `a database: ${strange}`;
    const names = "file" in database ? [database.file] : [database.env, database.migrate ?? "-"];
    if (!names.every((each) => typeof each === "string" && each !== "")) return databaseShape;
  }
  return null;
}
