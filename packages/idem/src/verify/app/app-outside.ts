// The outside of an app's processes, which outlives them: its mail, its files, its databases; of one world. The watchers in the processes note what they did
// in the world's folder (watch-app.ts); here it is held, put back, and shown at the end.
import fs from "node:fs";
import { sqliteDriver } from "../../store/sqlite/driver.ts";
import type { Json, Thing } from "../thing.ts";
import { notesIn } from "../worker/notes.ts";
import type { DatabaseScript } from "../worker/sql/database-script.ts";
import { useDriver } from "../worker/sql/sqlite-world.ts";
import { watchPostgres } from "../worker/sql/watch-postgres.ts";
import { watchSqlite } from "../worker/sql/watch-sqlite.ts";
import { watchFiles } from "../worker/watch-files.ts";
import { watchMail } from "../worker/watch-mail.ts";
import type { WatchedWorld } from "../worker/watcher.ts";
import { filesOf, type WorldOfProcess } from "./control-messages.ts";

export interface AppOutsideOptions {
  /** Its own; it is made, and gone when it is closed. */
  readonly folder: string;
  /** The folder the command was given in. */
  readonly home: string;
  readonly databases: readonly DatabaseScript[];
  /** The app is only asked for its functions: what it sets up while it starts stays for all worlds. */
  readonly isSetUp: boolean;
  readonly now: () => number;
  /** The data of what is delivered to the world. */
  readonly events: readonly Json[];
}

export class AppOutside {
  private readonly watched: readonly WatchedWorld[];
  /** Addresses of the databases, for a process that is started. */
  readonly env: Record<string, string> = {};

  private constructor(private readonly options: AppOutsideOptions) {
    const { folder, databases, isSetUp, now, events } = options;
    fs.mkdirSync(folder, { recursive: true });
    const of = {
      now,
      stir: () => {},
      assume: () => {},
      given: () => null,
      recordFrom: [],
      databases: { databases, isSetUp },
      setEnvironment: (values: Readonly<Record<string, string>>) => void Object.assign(this.env, values),
      notes: notesIn(folder, (body) => body()),
      filesIn: filesOf({ folder, home: options.home, databases }),
      isApart: true,
      events,
    };
    this.watched = [watchMail, watchFiles, watchSqlite, watchPostgres].map((watcher) => watcher.begin(of));
  }

  static async open(options: AppOutsideOptions): Promise<AppOutside> {
    const outside = new AppOutside(options);
    if (options.databases.some(({ kind }) => kind === "sqlite")) useDriver(openSqlite);
    for (const each of outside.watched) await each.ready?.();
    return outside;
  }

  /** For a process that is about to begin. */
  forProcess(): WorldOfProcess {
    const { folder, home } = this.options;
    return { folder, home, databases: this.watched.flatMap((each) => each.forProcess?.() ?? []) };
  }

  /** Whether a process has to know of it while it starts: it opens databases then, and may read what was written before it. */
  isKnownFromStart(): boolean {
    return this.options.databases.length > 0 || fs.existsSync(filesOf(this.forProcess()).root);
  }

  /** After a death: nothing of the dead process is left. */
  async bury(): Promise<void> {
    for (const each of this.watched) await each.bury?.();
  }

  async moved(): Promise<void> {
    for (const each of this.watched) await each.moved?.();
  }

  async isLocked(): Promise<boolean> {
    for (const each of this.watched) if ((await each.isLocked?.()) === true) return true;
    return false;
  }

  /** Whether something stands there that a process has still to hand on. */
  async isHandingOn(): Promise<boolean> {
    for (const each of this.watched) if ((await each.waiting?.()) === true) return true;
    return false;
  }

  /** After the last process. */
  async end(): Promise<{ readonly things: readonly Thing[]; readonly parked: readonly string[] }> {
    for (const each of this.watched) await each.end?.();
    return {
      things: this.watched.flatMap((each) => each.things()),
      parked: this.watched.flatMap((each) => each.parked?.() ?? []),
    };
  }

  close(): void {
    fs.rmSync(this.options.folder, { recursive: true, force: true });
  }
}

const openSqlite: Parameters<typeof useDriver>[0] = (path) => {
  const db = sqliteDriver().open(path, { readonly: false, busyMs: 0 });
  return { all: (sql) => db.prepare(sql).all() as Record<string, unknown>[], close: () => db.close() };
};
