// A tool that locks the victim's file: opens it as any program may, now and then holds its write lock for a while, or checkpoints and
// cuts its log. It reports its doings when it is asked to end.

import { setTimeout as delay } from "node:timers/promises";
import { Chance } from "./chance.ts";
import { loadDriver } from "./engine.ts";

export interface LockerInput {
  readonly path: string;
  readonly seed: number;
  readonly meanGapMs: number;
}

export interface LockerCounts {
  readonly locks: number;
  readonly lockedMs: number;
  readonly checkpoints: number;
  /** Times that another had the lock for longer than it would wait. */
  readonly missed: number;
}

const { path, seed, meanGapMs }: LockerInput = JSON.parse(process.argv[2]!);
const chance = new Chance(seed, "locker");
const counts = { locks: 0, lockedMs: 0, checkpoints: 0, missed: 0 };
let isOver = false;
process.on("message", () => {
  isOver = true;
});
// Without the process that started it this one has no reason to live.
process.on("disconnect", () => process.exit(1));

const driver = await loadDriver();
type Handle = ReturnType<typeof driver.open>;

async function lock(db: Handle): Promise<void> {
  db.exec("begin immediate");
  const ms = chance.int(50, 1_500);
  counts.locks++;
  counts.lockedMs += ms;
  await delay(ms);
  db.exec("rollback");
}

function checkpoint(db: Handle): void {
  db.exec("pragma wal_checkpoint(TRUNCATE)");
  counts.checkpoints++;
}

while (!isOver) {
  await delay(Math.min(chance.exponential(meanGapMs), meanGapMs * 4));
  let db: Handle | null = null;
  try {
    db = driver.open(path, { readonly: false, mustExist: true, busyMs: 2_000 });
    if (chance.happens(0.5)) await lock(db);
    else checkpoint(db);
  } catch (error) {
    const { code } = error as { code?: unknown };
    // Not made yet, or in another's hands.
    if (!/^SQLITE_(BUSY|CANTOPEN)/.test(String(code))) throw error;
    counts.missed++;
  } finally {
    db?.close();
  }
}
// Ends when it is heard: on Deno a process that ends by itself may take its last words with it.
process.send!(counts);
