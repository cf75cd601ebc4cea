// docs/lock-and-check.md
// #region transition
import { pgAdapter } from "idem/sql";
import { createOutbox, transition } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const outbox = createOutbox(adapter);

async function approve(invoiceId: string, approver: string): Promise<boolean> {
  return adapter.transaction(async (tx) => {
    const approved = await transition(adapter.wrap(tx), {
      table: "invoices",
      id: invoiceId,
      from: "draft",
      to: "approved",
      set: { approver },
    });
    if (approved.moved) await outbox.send(tx, { name: "invoice/approved", data: { invoiceId } });
    return approved.moved; // false: somebody else did; approved.row says who
  });
}

// #endregion

// #region lease
import { withLock } from "idem/toolkit";

declare const bank: { export(month: string, key: string, signal: AbortSignal): Promise<string> };

async function exportMonth(month: string): Promise<string> {
  const exported = await withLock(adapter, `export:${month}`, { lease: "30s", wait: "5s" }, async (lock) => {
    const done = await lock.recheck(async () => {
      const { rows } = await adapter.transaction((tx) =>
        tx.query("select file from exports where month = $1", [month]),
      );
      return rows[0]?.file as string | undefined;
    });
    if (done !== undefined) return done;
    const file = await bank.export(month, `export-${month}`, lock.signal);
    await lock.transaction((tx) => tx.query("insert into exports (month, file) values ($1, $2)", [month, file]));
    return file;
  });
  if (exported.kind !== "done") throw new Error(`the export of ${month} is ${exported.kind}; try again later`);
  return exported.value;
}

// #endregion

// #region short
import { withTransactionLock } from "idem/toolkit";

async function nextNumber(year: number): Promise<number> {
  const numbered = await withTransactionLock(adapter, `invoice-numbers:${year}`, { wait: "2s" }, async (tx) => {
    const { rows } = await tx.query("select coalesce(max(number), 0) + 1 as number from invoices where year = $1", [
      year,
    ]);
    await tx.query("insert into invoices (year, number) values ($1, $2)", [year, rows[0].number]);
    return rows[0].number as number;
  });
  if (numbered.kind === "in-flight") throw new Error("busy");
  return numbered.value;
}

// #endregion

export { approve, exportMonth, nextNumber };
