// Lines of code that was built, as they were written: frameworks replace how Node writes stacks (Next.js), and then nobody maps them to their sources.
import { findSourceMap } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Place } from "../thing.ts";

/** As bundlers call files of the project. */
const ofProject = /^(?:turbopack:\/\/\/\[project\]\/|webpack:\/\/[^/]*\/(?:\.\/)?)/;

/** The place itself where no other is known. */
export function builtSource(place: Place): Place {
  const entry = findSourceMap(place.file)?.findEntry(place.line - 1, place.column - 1);
  if (entry === undefined || !("originalSource" in entry) || entry.originalSource === undefined) return place;
  const { originalSource, originalLine, originalColumn } = entry;
  return { file: fileOf(originalSource, place.file), line: originalLine + 1, column: originalColumn + 1 };
}

function fileOf(source: string, builtFile: string): string {
  if (ofProject.test(source)) return join(process.cwd(), source.replace(ofProject, ""));
  const url = new URL(source, pathToFileURL(builtFile));
  return url.protocol === "file:" ? fileURLToPath(url) : builtFile;
}
