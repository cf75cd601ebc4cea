// For work as short as a transaction: the lock is the transaction's own, so a commit, a rollback or a crash releases it, also behind a pooler
// that hands sessions out by transaction. On PostgreSQL an advisory lock, on SQLite the file's one writer. A lock of the session is not
// offered: it would leak to the next user of the pooled connection.

import { createHash } from "node:crypto";
import { parseDuration } from "../../model/duration.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { openWith } from "../open-with.ts";
import type { Adapter } from "../sql/adapter.ts";
import { sqlFaultOf } from "../sql/faults.ts";
import type { Dialect, Operation } from "../sql/operation.ts";
import { checkLockName, type Locked } from "./with-lock.ts";

function* takeTurn(dialect: Dialect, name: string): Operation<void> {
  if (dialect === "sqlite") return;
  const hash = createHash("sha256")
    .update(JSON.stringify(["idem lock", name]))
    .digest();
  yield {
    text: "select cast(pg_advisory_xact_lock(cast($1 as bigint)) as text)",
    params: [hash.readBigInt64BE(0).toString()],
  };
  // The bound was for this wait; the user's statements have their own.
  yield { text: "set local lock_timeout to default", params: [] };
}

/** `wait` is 5 s by default. */
export async function withTransactionLock<Tx, T>(
  adapter: Adapter<Tx>,
  name: string,
  options: { readonly wait?: string | number },
  body: (tx: Tx) => T | Promise<T>,
): Promise<Exclude<Locked<T>, { kind: "lost" }>> {
  refuseUnknown<typeof options>("withTransactionLock", options, { wait: true });
  checkLockName(name);
  const lockTimeoutMs = parseDuration(options.wait ?? "5s", "wait");
  let isHeld = false;
  try {
    const value = await openWith(adapter, {
      call: "withTransactionLock",
      begin: () => takeTurn(adapter.dialect, name),
      body: (tx) => {
        isHeld = true;
        return body(tx);
      },
      given: body,
      options: { lockTimeoutMs },
    });
    return { kind: "done", value };
  } catch (error) {
    if (isHeld || sqlFaultOf(error) !== "lock-timeout") throw error;
    return { kind: "in-flight", leaseLeftMs: 0 };
  }
}
