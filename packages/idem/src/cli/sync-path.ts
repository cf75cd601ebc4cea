// What was written to a file, or named in a folder, is on the disk when this returns.
import { closeSync, fsyncSync, openSync } from "node:fs";

export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
