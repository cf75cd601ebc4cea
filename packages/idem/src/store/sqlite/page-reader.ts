// Long reads of a store that this process owns, on a read-only handle of their own. A log (WAL) lets it read while the owner's handle
// commits: neither waits for the other. Each read is a transaction of its own that begins when the read does, so it has one snapshot, and
// that snapshot has every commit that was acknowledged before: a commit is in the index of the log, which all handles share, before it
// returns. No transaction stays open between two reads, so the log can be begun again.
import { errors } from "../../model/errors.ts";
import type { FileIdentity } from "../../platform/node-files.ts";
import { StoreClock } from "../clock.ts";
import type { StoreReads } from "../reads.ts";
import { Connection } from "./connection.ts";
import { readsOver } from "./reads.ts";
import type { OpenedStore } from "./thread-messages.ts";

// For the right edges of the trees that pages begin at; the owner's handle has the large one.
const cacheKib = 8 * 1024;

const clockSql = "select value from meta where name = 'clock'";

export class PageReader {
  private readonly connection: Connection;
  private readonly reads: ReturnType<typeof readsOver>;

  /** Throws where the names do not lead to the owner's files any more: another file must not be read for them. */
  constructor(
    { path, files }: OpenedStore,
    clock: { wallMs(): number; monoMs(): number },
    identityOf: (path: string) => FileIdentity | null | undefined,
  ) {
    const connection = new Connection(path, { readonly: true });
    this.connection = connection;
    const own = new StoreClock(clock);
    this.reads = readsOver(connection, () => {
      // Not before an instant that a commit was decided by.
      own.raise(Number(connection.one<{ value: string }>(clockSql)?.value ?? 0));
      return own.read();
    });
    try {
      connection.db.exec(`pragma cache_size = ${-cacheKib}`);
      connection.db.exec("pragma temp_store = MEMORY");
      // The first read opens the log and its index.
      connection.one(clockSql);
      const replaced = files.find((file) => identityOf(file.path) !== file.identity);
      if (replaced !== undefined) throw errors.STORE_UNAVAILABLE({ why: `${replaced.path} is another file now` });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  read(name: keyof StoreReads, input: readonly unknown[]): unknown {
    const { connection, reads } = this;
    connection.run("begin");
    try {
      return (reads[name] as (...input: readonly unknown[]) => unknown)(...input);
    } finally {
      if (connection.db.inTransaction) connection.run("commit");
    }
  }

  close(): void {
    this.connection.close();
  }
}
