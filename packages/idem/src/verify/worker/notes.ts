// A watcher's notes on the world that is played, in the order in which they were made. In a thread they are a list; of an app's world they are a file, which
// outlives the process that writes it: a line is there once it is written, whatever becomes of the process.
import fs from "node:fs";

export interface Notes<T> {
  add(note: T): void;
  all(): readonly T[];
}

/** The notes of a world under this name. */
export type NotesOf = <T>(name: string) => Notes<T>;

export const notesInMemory: NotesOf = <T>() => {
  const all: T[] = [];
  return { add: (note: T) => void all.push(note), all: () => all };
};

/** The folder is there. `really`: on the machine's own files, whatever is watched. */
export const notesIn =
  (folder: string, really: <T>(body: () => T) => T): NotesOf =>
  <T>(name: string) => {
    const path = `${folder}/${name}.jsonl`;
    return {
      add: (note: T) => really(() => fs.appendFileSync(path, `${JSON.stringify(note)}\n`)),
      all: () => really(() => (fs.existsSync(path) ? linesOf<T>(fs.readFileSync(path, "utf8")) : [])),
    };
  };

const linesOf = <T>(text: string): T[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
