// SQLite, whichever driver opens it: files of the world's own, rows as things.
import type { Watcher } from "../watcher.ts";
import { beginSqlite } from "./sqlite-world.ts";
import { watchBetterSqlite3 } from "./watch-better-sqlite3.ts";
import { watchNodeSqlite } from "./watch-node-sqlite.ts";

export const watchSqlite: Watcher = {
  name: "sqlite",
  open(outside) {
    watchNodeSqlite(outside);
    watchBetterSqlite3(outside);
  },
  begin(world) {
    const mine = beginSqlite(world);
    return {
      things: () => mine.things(),
      waiting: () => mine.waiting(),
      parked: () => mine.parked(),
      forProcess: () => mine.forProcess(),
      madeIds: [],
    };
  },
};
