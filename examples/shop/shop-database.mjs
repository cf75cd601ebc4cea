// The shop's own tables, in a SQLite file of its own. No unique constraint hides a mistake: whatever is done twice is there twice.
import Database from "better-sqlite3";

const tables = `
  create table if not exists orders (
    id text primary key, customer text not null, email text not null, cents integer not null,
    state text not null default 'open', payment text, charge text
  );
  create table if not exists shipments (order_id text not null, charge text not null);
`;

export function openDatabase(file) {
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(tables);
  return db;
}
