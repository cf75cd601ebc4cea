// One table of a database. An insert accumulates, an upsert converges; a unique column makes the second insert throw.

interface TableOptions<Row> {
  readonly unique?: keyof Row;
  /** What the database fills in where an insert says nothing. */
  readonly defaults?: () => Partial<Row>;
}

export class Table<Row extends object, Defaulted extends keyof Row = never> {
  readonly rows: Row[] = [];
  private failure: Error | null = null;

  constructor(private readonly options: TableOptions<Row> = {}) {}

  /** The next write throws and changes nothing. */
  failNextWrite(message: string): void {
    this.failure = new Error(message);
  }

  async insert(row: Omit<Row, Defaulted> & Partial<Pick<Row, Defaulted>>): Promise<Row> {
    this.throwFailure();
    return this.add(row as Partial<Row>);
  }

  create(row: Omit<Row, Defaulted> & Partial<Pick<Row, Defaulted>>): Promise<Row> {
    return this.insert(row);
  }

  async upsert(
    where: Partial<Row>,
    fields: Partial<Row>,
    { createFields = {} }: { readonly createFields?: Partial<Row> } = {},
  ): Promise<Row> {
    this.throwFailure();
    const found = this.find(where);
    return found === undefined ? this.add({ ...where, ...fields, ...createFields }) : Object.assign(found, fields);
  }

  async findOne(where: Partial<Row>): Promise<Row | null> {
    return this.find(where) ?? null;
  }

  async findOrCreate(where: Partial<Row>, fields: Partial<Row>): Promise<{ record: Row; wasCreated: boolean }> {
    this.throwFailure();
    const found = this.find(where);
    return found === undefined
      ? { record: this.add({ ...where, ...fields }), wasCreated: true }
      : { record: found, wasCreated: false };
  }

  private find(where: Partial<Row>): Row | undefined {
    const columns = Object.keys(where) as (keyof Row)[];
    return this.rows.find((row) => columns.every((column) => row[column] === where[column]));
  }

  private add(given: Partial<Row>): Row {
    const row = { ...this.options.defaults?.(), ...given } as Row;
    const { unique } = this.options;
    if (unique !== undefined && this.rows.some((other) => other[unique] === row[unique])) {
      throw new Error(`duplicate key value violates unique constraint on ${String(unique)}`);
    }
    this.rows.push(row);
    return row;
  }

  private throwFailure(): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
  }
}
