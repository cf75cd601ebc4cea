// The functions a worker may be given, as a table: with 10,000 of them a list in the statement took 6 ms to read, three times
// per lease. A worker asks with the same list until its functions change, so the table is filled once.
import type { Connection } from "./connection.ts";

// Lives with the connection and never in the file.
const createSql =
  "create temp table if not exists leasable (list integer not null, fn text not null, primary key (list, fn)) without rowid";
const insertSql = "insert or ignore into leasable (list, fn) select ?, value from json_each(?)";
const deleteSql = "delete from leasable";

// A worker per environment and a few more; a caller that brings a new list every time does not fill the memory.
const listsMax = 32;

/** For statements over jobs. The parameter is the list's number. */
export const isLeasable = "exists (select 1 from leasable l where l.list = ? and l.fn = jobs.fn)";

export class LeasableFunctions {
  private numbers = new Map<readonly string[], number>();
  private next = 1;
  /** Rows of lists that nobody asks for any more may be left. */
  private isStale = false;

  constructor(private readonly connection: Connection) {
    connection.run(createSql);
  }

  numberOf(functions: readonly string[]): number {
    const known = this.numbers.get(functions);
    if (known !== undefined) return known;
    if (this.isStale || this.numbers.size >= listsMax) {
      this.connection.run(deleteSql);
      this.numbers.clear();
      this.isStale = false;
    }
    const number = this.next++;
    this.connection.run(insertSql, number, JSON.stringify(functions));
    this.numbers.set(functions, number);
    return number;
  }

  /** A rollback took rows along; which is not known. */
  forget(): void {
    this.numbers.clear();
    this.isStale = true;
  }
}
