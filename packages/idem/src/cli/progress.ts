// The progress of long work, on standard error so that standard output stays what was asked for.
import type { Io } from "./terminal.ts";
import { duration } from "./times.ts";

const barWidth = 30;
// Often enough to be believed, seldom enough to cost nothing.
const redrawMs = 100;
const logLineMs = 5_000;

export interface Progress {
  update(done: number, total: number | null): void;
  end(): void;
}

export function showProgress(io: Io, label: string): Progress {
  const { err, platform } = io;
  const startedAt = platform.monoMs();
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  const text = (done: number, total: number | null): string => {
    const spent = duration(platform.monoMs() - startedAt);
    if (total === null || total === 0) return `${label} ${done} (${spent})`;
    const share = Math.min(1, done / total);
    const filled = Math.round(share * barWidth);
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
    return `${label} ${bar} ${String(Math.floor(share * 100)).padStart(3)} % of ${total} (${spent})`;
  };
  return {
    update(done, total) {
      const now = platform.monoMs();
      if (err.isTerminal) {
        if (now - shownAt < redrawMs && done !== total) return;
        err.write(`\r\x1b[2K${text(done, total)}`);
      } else {
        // Short work needs no line in a log.
        if (now - Math.max(shownAt, startedAt) < logLineMs) return;
        err.write(`${text(done, total)}\n`);
      }
      shownAt = now;
      isShown = true;
    },
    end() {
      if (isShown && err.isTerminal) err.write("\r\x1b[2K");
    },
  };
}
