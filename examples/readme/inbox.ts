// docs/inbox.md
// #region process
import { pgAdapter } from "idem/sql";
import { inbox } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));

async function onStockMoved(message: { id: string; item: string; by: number }): Promise<void> {
  const processed = await inbox.process(adapter, { source: "warehouse", id: message.id }, async (tx) => {
    await tx.query("update stock set left_over = left_over + $2 where item = $1", [message.item, message.by]);
  });
  console.log(processed.kind); // "done", or "duplicate" since processed.firstSeenAt
}
// #endregion

// #region consumers
async function onPaid(delivery: { id: string; sha256: string; invoice: string }): Promise<void> {
  const message = { source: "billing", id: delivery.id, consumer: "search-index", digest: delivery.sha256 };
  const processed = await inbox.process(adapter, message, async (tx) => {
    await tx.query("update search set paid = true where invoice = $1", [delivery.invoice]);
  });
  if (processed.kind === "mismatch") console.error(`billing sent two messages under the id ${delivery.id}`);
}
// #endregion

// #region reap
await inbox.reap(adapter, { source: "warehouse", olderThan: "30d" });

// #endregion

export { onPaid, onStockMoved };
