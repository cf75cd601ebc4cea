// One statement of the user's, whichever driver asks it: carried out by the server, and an effect where it writes or commits.
import { currentCaller } from "../caller.ts";
import { never, type WatchedProcess } from "../life.ts";
import { realClearTimeout, realSetTimeout } from "../real.ts";
import type { Outside } from "../watcher.ts";
import { isLocked } from "./postgres-databases.ts";
import { asDriver, type Database, world } from "./postgres-world.ts";
import { isHousekeeping } from "./row-things.ts";
import { readStatement } from "./sql-text.ts";
import { titleOf } from "./sqlite-world.ts";

/** A driver's means to carry out one statement. */
export interface Session<T> {
  readonly database: Database;
  readonly run: () => Promise<T>;
  /** Another statement in its place, on the same session. */
  readonly instead: (sql: string) => Promise<unknown>;
  /** The connection is gone. */
  readonly cut: () => void;
}

const refusals = {
  500: ["57014", "canceling statement due to statement timeout"],
  429: ["53100", "could not extend file: No space left on device"],
  409: ["40001", "could not serialize access due to concurrent update"],
} as const;

/** Real time after which a statement that is not answered may be waiting for somebody else's lock. */
const lockMs = 30;

/** One statement of the user's, in the user's own context. */
export async function perform<T>(outside: Outside, sql: string, session: Session<T>): Promise<T> {
  const caller = currentCaller<WatchedProcess>();
  const { database } = session;
  const text = readStatement(sql);
  const title = titleOf(text, database.script.name);
  if (caller === null) {
    outside.unproven(`${title} came from code whose world cannot be told (its async context was lost)`);
    return never();
  }
  const { life } = caller;
  const end = outside.begin();
  const isWaiting = (): void => {
    end();
    life.waitsForLock();
  };
  const really = async <V>(body: () => Promise<V>): Promise<V> => {
    await world?.setTime(database);
    return untilLocked(database, () => asDriver(life, body), isWaiting);
  };
  try {
    if (life.isLoading) return await really(session.run);
    if ((text.kind !== "write" && text.kind !== "commit") || isHousekeeping(caller, text.table)) {
      const value = await outside.read(() => really(session.run), text.kind === "read" ? title : undefined);
      await life.pass();
      return value;
    }
    const became = await outside.effectLater({ watcher: "sql", title, key: null }, async ({ fn, effect }) => {
      const value = await really(session.run);
      if (text.kind === "write") world?.wrote(database, { table: text.table, fn, effect });
      return { value, isRepeat: false };
    });
    if (became.kind === "happened") return became.value;
    if (became.kind === "lost") {
      session.cut();
      throw new Error("Connection terminated unexpectedly");
    }
    const [code, message] = refusals[became.status];
    const failed = Object.assign(new Error(message), { severity: "ERROR", code, name: "error" });
    // A transaction refused at its commit is undone.
    if (text.kind === "commit") await really(() => session.instead("rollback"));
    else await really(() => session.instead(raising(code, message)).catch(() => {}));
    throw failed;
  } finally {
    end();
    world?.stir();
  }
}

/** The server itself fails so, and its transaction with it. */
const raising = (code: string, message: string): string =>
  `do $idem$ begin raise exception using errcode = '${code}', message = '${message}'; end $idem$`;

/** A statement that waits for a lock is not at work: another process has to go on first, or time has to pass. Of an app the command looks for it. */
async function untilLocked<T>({ made }: Database, body: () => Promise<T>, isWaiting: () => void): Promise<T> {
  if (made === null) return body();
  let isOver = false;
  let timer: ReturnType<typeof realSetTimeout>;
  const look = async (): Promise<void> => {
    if (await isLocked(made)) isWaiting();
    else if (!isOver) timer = realSetTimeout(look, lockMs);
  };
  timer = realSetTimeout(look, lockMs);
  try {
    return await body();
  } finally {
    isOver = true;
    realClearTimeout(timer);
  }
}
