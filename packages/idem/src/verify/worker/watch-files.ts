// Files: `node:fs` in all its forms, over a folder of the world's own (overlay.ts). Reads see what the world wrote and else the machine's; every change of
// a file's content is an effect, carried out there.
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceChanges } from "./file-changes.ts";
import { beginFiles, carryOut, openFiles, real } from "./file-effects.ts";
import { replaceReads } from "./file-reads.ts";
import { closeLeft, replaceOpen } from "./open-files.ts";
import type { Outside, Watcher } from "./watcher.ts";

/** Removes folders that killed commands left behind. */
function sweep(): void {
  for (const name of real.readdirSync(tmpdir())) {
    const pid = Number(/^idem-verify-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) continue;
    try {
      process.kill(pid, 0);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ESRCH") continue;
      real.rmSync(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

/** `areNobodys`: files that are looked at by nobody. */
export function replaceFiles(outside: Outside, areNobodys: (path: string) => boolean): void {
  openFiles(outside, areNobodys);
  replaceChanges();
  replaceReads();
  replaceOpen();
  syncBuiltinESMExports();
}

export const watchFiles: Watcher = {
  name: "files",
  open(outside) {
    sweep();
    replaceFiles(outside, () => false);
  },
  begin(world) {
    closeLeft();
    const mine = beginFiles(world);
    return {
      things: () => {
        // Others wrote it.
        const all = world.isApart ? beginFiles(world) : mine;
        const things = carryOut(() => all.things());
        all.close();
        return things;
      },
      madeIds: [],
    };
  },
};
