// A table whose rows another system creates: an upsert changes the row that is there and answers null where there is none.
import { Table } from "./table.ts";

export class MirroredTable<Row extends object> {
  private readonly table = new Table<Row>();

  constructor(rows: readonly Row[]) {
    this.table.rows.push(...rows);
  }

  get rows(): readonly Row[] {
    return this.table.rows;
  }

  async upsert(where: Partial<Row>, fields: Partial<Row>): Promise<Row | null> {
    return (await this.table.findOne(where)) === null ? null : this.table.upsert(where, fields);
  }
}
