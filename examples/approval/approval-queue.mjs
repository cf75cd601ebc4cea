// The queue that people work through: rows of the agency's own SQLite file. An entry is decided once, whoever clicks and how often, and
// everybody after the first is told who that was.
import Database from "better-sqlite3";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { createOutbox, transitionSync } from "idem/toolkit";

// No unique constraint on the placement: a second entry for it would be here to be seen.
const table = `
  create table if not exists approval_queue (
    id integer primary key, placement_id integer not null, invoice text not null,
    state text not null default 'pending', decided_by text
  )`;

export async function openQueue(file) {
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(table);
  const adapter = sqliteAdapter(db);
  await ensureTables(adapter, ["idem_outbox", "idem_steps"]);
  const outbox = createOutbox(adapter);

  return {
    adapter,
    outbox,
    /** Inside a transaction of the caller's. */
    add: (tx, { placementId, invoice }) =>
      tx
        .prepare("insert into approval_queue (placement_id, invoice) values (?, ?) returning *")
        .get(placementId, invoice),

    get: (id) => db.prepare("select * from approval_queue where id = ?").get(id),
    list: () => db.prepare("select * from approval_queue order by id").all(),

    /** The row moves and its event is written in one commit; or the row has moved, and nothing is written. */
    decide(id, { to, by }) {
      return adapter.transactionSync((tx) => {
        const decision = { table: "approval_queue", id, from: "pending", to, set: { decided_by: by } };
        const { moved, row } = transitionSync(adapter, tx, decision);
        if (moved) {
          const data = { placementId: row.placement_id, state: to, decided_by: by };
          outbox.sendSync(tx, { name: "invoice/decided", data }, { dedupKey: `entry-${id}` });
        }
        return { moved, row };
      });
    },
    close: () => db.close(),
  };
}
