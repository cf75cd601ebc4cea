// idem migrate-store: a stopped SQLite store moves into PostgreSQL, with every window it had.
import { errors, IdemError } from "../../model/errors.ts";
import { loadDriver } from "../../sdk/open-store.ts";
import { loadMigrations } from "../../store/sqlite/migrations.ts";
import { type Compared, moveStore } from "../../store/transfer/move-store.ts";
import { PostgresTarget } from "../../store/transfer/postgres-target.ts";
import { SqliteSource } from "../../store/transfer/sqlite-source.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { exitCodes, failed, Refusal, usage } from "../exit.ts";
import { checkStoreFile, findStore } from "../find-store.ts";
import { type Progress, showProgress } from "../progress.ts";
import { table } from "../table.ts";

export const migrateStore: Command = {
  name: "migrate-store",
  summary: "move a stopped SQLite store into PostgreSQL, and check that all of it arrived",
  whyNoServer: "it moves the store itself, and no server may have it meanwhile: stop the server and run this there.",
  usage: "<sqlite:path> <postgres://…> | --reopen <sqlite:path>",
  words: { min: 1, max: 2 },
  options: {
    reopen: { help: "let a file that was moved be opened again; the store it was moved to must not be used any more" },
    json: storeOptions.json!,
  },
  details: [
    "Refused while a process owns the file, and when the PostgreSQL store has facts of its own; ?schema=name chooses the schema.",
    "Events, decisions, keys with their windows, runs, steps, waits, schedules, buffers and limits move; leases do not: whoever",
    "held one is gone. Then every table is counted and hashed on both sides. Killed in the middle, the same command goes on.",
    "The file stays as it was and can be read; a process that opens it is told where it was moved to.",
    "PGPASSWORD is read where the address has no password: a command line is seen by every user of the machine.",
  ],
  examples: [
    "idem migrate-store sqlite:./.idem/shop.db postgres://idem@db.internal/shop",
    "idem migrate-store sqlite:./.idem/shop.db postgres://idem@db.internal/shop?schema=idem_shop --json",
    "idem migrate-store --reopen sqlite:./.idem/shop.db",
  ],
  async run(context) {
    const [from, to] = context.words as [string, string | undefined];
    const path = findStore(context.io, from);
    checkStoreFile(path);
    if (context.flags.has("reopen")) {
      if (to !== undefined) throw usage("--reopen takes one store: the SQLite file.");
      return reopen(context, path);
    }
    if (to === undefined || !/^postgres(ql)?:\/\//.test(to)) {
      throw usage("Say where to: idem migrate-store sqlite:./path/to/file.db postgres://user@host/database.");
    }
    return move(context, path, to);
  },
};

async function move(context: Context, path: string, to: string): Promise<number> {
  const { platform } = context.io;
  const pg = await loadDriver(to);
  const source = SqliteSource.open(path, loadMigrations());
  let target: PostgresTarget | null = null;
  try {
    const clear = source.secretsInClear();
    if (clear > 0 && context.io.env("IDEM_SECRETS_IN_CLEAR") !== "1") {
      throw errors.SECRETS_IN_CLEAR({
        what: `${clear} ${clear === 1 ? "setting" : "settings"} of ${path} (idem secret rotate seals them)`,
      });
    }
    target = await PostgresTarget.open(pg, to);
    const compared = await withProgress(context, (onProgress) =>
      moveStore({
        source,
        target: target!,
        now: () => platform.wallMs(),
        newId: () => Buffer.from(platform.randomBytes(16)).toString("hex"),
        onProgress,
      }),
    );
    return show(context, path, target.where, compared);
  } catch (error) {
    if (error instanceof IdemError || error instanceof Refusal) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(
      exitCodes.failed,
      `The move of ${path} stopped: ${why}. The file is what it was; the same command goes on with the move.`,
      { cause: error },
    );
  } finally {
    await target?.close();
    source.close();
  }
}

type OnProgress = (what: "copied" | "compared", rows: number, of: number) => void;

async function withProgress<T>({ io }: Context, body: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  let shown: { readonly what: string; readonly progress: Progress } | null = null;
  try {
    return await body((what, rows, of) => {
      if (shown?.what !== what) {
        shown?.progress.end();
        shown = { what, progress: showProgress(io, `${what} rows`) };
      }
      shown.progress.update(rows, of);
    });
  } finally {
    (shown as { readonly progress: Progress } | null)?.progress.end();
  }
}

// As much of a hash as people compare by eye; --json has all of it.
const shownDigits = 16;

function show(context: Context, path: string, where: string, compared: readonly Compared[]): number {
  const { io, paint } = context;
  const wrong = compared.filter(({ isSame }) => !isSame);
  const isMoved = wrong.length === 0;
  if (context.isJson) context.json({ from: path, to: where, isMoved, tables: compared });
  else {
    const rows = compared.map(({ table, source, target, isSame }) => [
      table,
      String(source.rows),
      String(target.rows),
      source.hash.slice(0, shownDigits),
      target.hash.slice(0, shownDigits),
      isSame ? "same" : "DIFFERENT",
    ]);
    const columns = [
      { title: "TABLE" },
      { title: "ROWS", align: "right" as const },
      { title: "MOVED", align: "right" as const },
      { title: "HASH" },
      { title: "HASH THERE" },
      { title: "", paint: (text: string, row: number) => (compared[row]!.isSame ? text : paint.red(text)) },
    ];
    io.out.write(table(columns, rows, { columns: io.out.columns, bold: paint.bold }));
  }
  if (!isMoved) {
    const names = wrong.map(({ table }) => table).join(", ");
    throw failed(
      `What arrived in ${where} is not what ${path} has: ${names}. Nothing was switched over: the file is what it was, and the other store cannot be opened. The same command starts over.`,
    );
  }
  if (!context.isJson) {
    context.say(`${path} was moved to ${where}: start with IDEM_STORE=<that address>.`);
    context.say("The file is what it was; whoever opens it is told where it was moved to.");
  }
  return exitCodes.ok;
}

function reopen(context: Context, path: string): number {
  const source = SqliteSource.open(path, loadMigrations());
  try {
    const note = source.movedTo;
    if (note === null) throw failed(`${path} was not moved; it can be opened as it is.`);
    source.forgetMoved();
    if (context.isJson) context.json({ store: path, wasMovedTo: note.to });
    else context.say(`${path} can be opened again. What happened in ${note.to} since is not in it: never use both.`);
    return exitCodes.ok;
  } finally {
    source.close();
  }
}
