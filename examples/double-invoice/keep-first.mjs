// A file that only its first writer writes. The file system decides who that is, so it holds between processes and
// through a SIGKILL: the name appears with its whole content or not at all.
import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function keepFirst(folder, key, value) {
  const drafts = join(folder, "unnamed");
  mkdirSync(drafts, { recursive: true });
  const unnamed = join(drafts, randomUUID());
  const path = join(folder, `${encodeURIComponent(key)}.json`);
  writeFileSync(unnamed, JSON.stringify(value));
  try {
    linkSync(unnamed, path);
    return { value, isFirst: true };
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return { value: JSON.parse(readFileSync(path, "utf8")), isFirst: false };
  } finally {
    rmSync(unnamed, { force: true });
  }
}

export function readKept(folder) {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
}
