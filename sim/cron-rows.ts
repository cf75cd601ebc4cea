// Since when each schedule is registered, followed from outside by the registrations that took effect, in the store's time.

export interface CronRow {
  readonly fn: string;
  readonly cron: string;
  /** The store's time when it was registered. */
  readonly from: number;
  /** When it was registered no more; null while it is. */
  to: number | null;
}

export class CronRows {
  readonly rows: CronRow[] = [];

  constructor(private readonly storeNow: () => number) {}

  registered(input: {
    readonly functions: readonly { readonly fn: string; readonly crons: readonly string[] }[];
  }): void {
    const now = this.storeNow();
    const named = new Set(input.functions.flatMap(({ fn, crons }) => crons.map((cron) => `${fn}\n${cron}`)));
    for (const row of this.rows) {
      if (row.to !== null) continue;
      if (!named.delete(`${row.fn}\n${row.cron}`)) row.to = now;
    }
    for (const name of named) {
      const [fn, cron] = name.split("\n") as [string, string];
      this.rows.push({ fn, cron, from: now, to: null });
    }
  }
}
