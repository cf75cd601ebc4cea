// The store's own thread: a disk sync here never holds up the application's event loop.
import { lookAtPath } from "../../platform/look-at-path.ts";
import { nodeThread } from "../../platform/node-thread.ts";
import { BatchTurns } from "./batch-turns.ts";
import { fail, succeed } from "./calls.ts";
import { SqliteCore } from "./core.ts";
import { fileRollbackText } from "./counter-file.ts";
import { loadMigrations } from "./migrations.ts";
import { openingFault } from "./opening-fault.ts";
import type { FromThread, OpenedStore, ThreadInput, ToThread } from "./thread-messages.ts";

// A commit that meets a lock waits so long by itself; then reads get their turn, and it is tried again.
const busyMs = 50;

const { input, clock, timer, soon, post, onMessage, end } = nodeThread<ThreadInput, ToThread, FromThread>();
try {
  const { path, owner, synchronous, patience } = input;
  const core = new SqliteCore({
    path,
    owner,
    migrations: loadMigrations(),
    clock,
    busyMs,
    ...(synchronous === null ? {} : { synchronous }),
  });
  // SQLite puts the list of a `check (state in (…))` into a table of its own for every row it checks: 7 µs of 85 for a run. Where nobody waits
  // for speed (tests, simulation, `:memory:`) they are checked, and where a file is examined (health-reads.ts).
  core.connection.db.exec("pragma ignore_check_constraints = on");
  const turns = new BatchTurns({ core, path, patience, clock, timer, soon, post, end });
  onMessage((message) => turns.take(message));
  const rollback = core.rollback === null ? null : fileRollbackText(path, core.rollback);
  const opened: OpenedStore = { path: core.path, files: turns.files, rollback };
  post({ kind: "open", answer: succeed(opened) });
} catch (error) {
  const { path } = input;
  post({ kind: "open", answer: fail(openingFault(error, path, lookAtPath(path))) });
}
