// The inputs of `idem verify`: files, events and the store, each read and checked; whatever is wrong with it is said before anything is played.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { type Baseline, readBaseline } from "../verify/baseline.ts";
import { type ChosenEvent, reaching } from "../verify/choose-event.ts";
import { readRecordings } from "../verify/recordings.ts";
import type { Json } from "../verify/thing.ts";
import { type WrittenEvent, wrongEvent } from "../verify/verify-configuration.ts";
import { emptyMemory, readMemory, type VerifyMemory } from "../verify/verify-memory.ts";
import type { DescribedFunction } from "../verify/worker/messages.ts";
import type { Fixture } from "../verify/worker/world-script.ts";
import { usage } from "./exit.ts";
import { locateStore } from "./find-store.ts";
import { readStore } from "./open-reading.ts";
import { printable } from "./printable.ts";
import type { Io } from "./terminal.ts";

export const memoryName = "idem.verify.json";
export const recordingsName = "idem.verify.recordings.json";
const configurations = ["ts", "mts", "cts", "mjs", "js", "cjs"].map((ending) => `idem.verify.${ending}`);

/** The configuration of the folder the command is given in; null for none. */
export function findConfiguration(cwd: string): string | null {
  const found = configurations.map((name) => join(cwd, name)).filter((path) => existsSync(path));
  if (found.length > 1) {
    throw usage(
      `There are ${found.length} configurations in ${cwd}: ${found.map((path) => path.slice(cwd.length + 1)).join(", ")}. Keep one.`,
    );
  }
  return found[0] ?? null;
}

/** Absolute, of files that are there. */
export function findModules(names: readonly string[], from: string): string[] {
  return names.map((name) => {
    const path = resolve(from, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true) return path;
    const why = found === undefined ? "there is no such file" : "it is not a file: name the modules in it";
    throw usage(`${printable(name)} cannot be loaded: ${why}.`);
  });
}

function readJson(path: string, shown: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw usage(`${printable(shown)} cannot be read: ${(error as Error).message}.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${printable(shown)} is not JSON: ${(error as Error).message}.`);
  }
}

export function readMemoryOf(cwd: string): VerifyMemory {
  const path = join(cwd, memoryName);
  if (!existsSync(path)) return emptyMemory;
  const read = readMemory(readJson(path, memoryName));
  if (typeof read === "string") throw usage(`${memoryName}: ${read}.`);
  return read;
}

export function readRecordingsOf(cwd: string): Fixture[] {
  const path = join(cwd, recordingsName);
  if (!existsSync(path)) return [];
  const read = readRecordings(readJson(path, recordingsName));
  if (typeof read === "string") throw usage(`${recordingsName}: ${read}.`);
  return read;
}

export function readBaselineOf(cwd: string, file: string): Baseline {
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw usage(`There is no ${printable(file)} yet: write it with --write-baseline ${printable(file)}.`);
  const read = readBaseline(readJson(path, file));
  if (typeof read === "string") throw usage(`${printable(file)}: ${read}.`);
  return read;
}

/** A file from the folder the command is given in, with slashes on every machine. */
export const projectPath = (cwd: string, file: string): string => relative(cwd, file).split(sep).join("/");

/** One event, or a list of them. */
export function readEvents(cwd: string, file: string): ChosenEvent[] {
  const written = readJson(resolve(cwd, file), file);
  const events = (Array.isArray(written) ? written : [written]) as unknown[];
  if (events.length === 0) throw usage(`${printable(file)} holds no event.`);
  return events.map((event) => {
    const wrong = wrongEvent(event);
    if (wrong !== null) throw usage(`${printable(file)}: ${wrong}.`);
    return { ...(event as WrittenEvent), from: `from ${file}`, isReal: false };
  });
}

/** Runs of a function that are looked at for one that an event started. */
const runsLookedAt = 50;

/** The newest event of each function that started a run of it, read from a store that is not changed. */
export async function eventsOfStore(
  io: Io,
  address: string,
  functions: readonly DescribedFunction[],
): Promise<ReadonlyMap<string, ChosenEvent>> {
  const place = locateStore(io, address === "" ? undefined : address);
  const found = new Map<string, ChosenEvent>();
  for (const env of new Set(functions.map((each) => each.env))) {
    await readStore(io, { address: place, env, app: undefined }, async ({ reads }) => {
      for (const fn of functions.filter((each) => each.env === env)) {
        for (const { id, eventId } of await reads.runs(env, { fn: fn.fn, limit: runsLookedAt })) {
          const event = await reads.event(env, eventId);
          if (event === null) continue;
          const data = JSON.parse(event.data) as Json;
          const chosen = reaching(fn, [{ name: event.name, data, from: `from the store, run ${id}`, isReal: true }]);
          if (chosen === null) continue;
          found.set(fn.fn, chosen);
          break;
        }
      }
    });
  }
  return found;
}

/** `--events`: two ids, of events or of the runs they started. */
export function readPair(text: string | undefined): readonly [string, string] | null {
  if (text === undefined) return null;
  const ids = text.split(",").map((id) => id.trim());
  if (ids.length !== 2 || ids.some((id) => id === "") || ids[0] === ids[1]) {
    throw usage(
      `--events is "${printable(text)}"; it is two ids with a comma between them, of events or of the runs they started.`,
    );
  }
  return [ids[0]!, ids[1]!];
}

/** Both events of a pair, for each function that both of them start, read from a store that is not changed. */
export async function pairOfStore(
  io: Io,
  address: string,
  functions: readonly DescribedFunction[],
  ids: readonly [string, string],
): Promise<ReadonlyMap<string, ChosenEvent>> {
  const place = locateStore(io, address === "" ? undefined : address);
  const found = new Map<string, ChosenEvent>();
  const missing = new Set<string>();
  for (const env of new Set(functions.map((each) => each.env))) {
    await readStore(io, { address: place, env, app: undefined }, async ({ reads }) => {
      const eventOf = async (id: string) => {
        const run = await reads.run(env, id);
        const event = await reads.event(env, run?.eventId ?? id);
        if (event === null) missing.add(id);
        return event;
      };
      const [first, second] = [await eventOf(ids[0]), await eventOf(ids[1])];
      if (first === null || second === null) return;
      // The one that came first is the event, whichever was named first.
      const [one, two] = first.receivedAt <= second.receivedAt ? [first, second] : [second, first];
      const written = ({ name, data }: typeof one) => ({ name, data: JSON.parse(data) as Json });
      const chosen: ChosenEvent = {
        ...written(one),
        from: `from the store, and ${two.name} for the same thing`,
        isReal: true,
        second: { ...written(two), apartMs: two.receivedAt - one.receivedAt },
      };
      for (const fn of functions.filter((each) => each.env === env)) {
        const both = [chosen, { ...chosen, name: two.name }].every((event) => reaching(fn, [event]) !== null);
        if (both) found.set(fn.fn, chosen);
      }
    });
  }
  if (found.size > 0) return found;
  const why =
    missing.size > 0
      ? `The store has no event or run ${[...missing].map(printable).join(" and ")}`
      : "No function here is started by both events";
  throw usage(`${why}; see idem events and idem radar.`);
}

/** The text of a file; null where it cannot be read. */
export function readSource(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** The lines around a place in a file; none where it cannot be read. */
export function linesAround(
  file: string,
  line: number,
  around: number,
): { readonly line: number; readonly text: string }[] {
  const lines = readSource(file)?.split("\n") ?? [];
  const first = Math.max(1, line - around);
  return lines.slice(first - 1, line + around).map((text, i) => ({ line: first + i, text: text.replace(/\r$/, "") }));
}
