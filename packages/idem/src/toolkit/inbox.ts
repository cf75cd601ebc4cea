// The inbox: a message and what it changes are one commit, so a message that comes twice changes nothing twice.
// Insert first, then the user's writes: a second delivery at the same time waits for the first to commit, or takes its place if it does not.

import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { type ClaimTable, claimRow, reapRows } from "./claim/claim-operations.ts";
import { openWith } from "./open-with.ts";
import type { Adapter } from "./sql/adapter.ts";
import { numberOf, type Operation, type Sql, sqlOf } from "./sql/operation.ts";
import { plain, sqlPart } from "./sql/parts.ts";

export interface InboxMessage {
  /** The sender: "shop", "stripe". */
  readonly source: string;
  /** The sender's own, the same on every delivery. */
  readonly id: string;
  /** Where several parts of an app process the same message, once each. */
  readonly consumer?: string;
  /** A hash of the content: another one under the same id is reported instead of taken for a duplicate. */
  readonly digest?: string;
}

export type Processed<T> =
  | { readonly kind: "done"; readonly value: T; readonly firstSeenAt: number }
  | { readonly kind: "duplicate"; readonly firstSeenAt: number }
  /** The same id with another digest: nothing was processed. */
  | { readonly kind: "mismatch"; readonly firstSeenAt: number };

interface Seen {
  readonly isFirst: boolean;
  readonly digest: string | null;
  readonly firstSeenAt: number;
}

const table: ClaimTable = {
  name: "idem_inbox",
  key: ["source", "consumer", "id"],
  fence: "first_seen_at",
  held: "",
  columns: "source, digest, first_seen_at",
};

/** A claim that is settled by its own insert: it is there with the writes it stands for, or not at all. */
const markSeen = (sql: Sql, at: Required<Omit<InboxMessage, "digest">>, digest: string | null): Operation<Seen> =>
  claimRow<Seen>(sql, table, {
    at: { source: at.source, consumer: at.consumer, id: at.id },
    insert: () => ({ digest, first_seen_at: plain(sql.now) }),
    fresh: (firstSeenAt) => ({ isFirst: true, digest, firstSeenAt }),
    decide: (row) => ({
      answer: { isFirst: false, digest: row.digest as string | null, firstSeenAt: numberOf(row.first_seen_at) },
    }),
    crowded: () => {
      throw errors.ROW_CONTENDED({ table: table.name });
    },
  });

/** Promise: the body's writes with `tx`, once per message and consumer. A throw undoes both, and a redelivery processes it. */
async function process<Tx, T>(
  adapter: Adapter<Tx>,
  message: InboxMessage,
  body: (tx: Tx) => T | Promise<T>,
): Promise<Processed<T>> {
  refuseUnknown<InboxMessage>("inbox.process", message, { source: true, id: true, consumer: true, digest: true });
  const { source, id, consumer = "", digest = null } = message;
  for (const [option, value] of Object.entries({ source, id })) {
    if (typeof value === "string" && value !== "" && value.length <= 512) continue;
    const why = "it must be a text of 1 to 512 characters";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "inbox.process", option, why });
  }
  let seen!: Seen;
  const value = await openWith(adapter, {
    call: "inbox.process",
    begin: () => markSeen(sqlOf(adapter.dialect), { source, consumer, id }, digest),
    body: (tx, begun) => {
      seen = begun;
      return begun.isFirst ? body(tx) : undefined;
    },
    given: body,
  });
  const { firstSeenAt } = seen;
  if (seen.isFirst) return { kind: "done", value: value as T, firstSeenAt };
  const isSame = digest === null || seen.digest === null || seen.digest === digest;
  return { kind: isSame ? "duplicate" : "mismatch", firstSeenAt };
}

/** Deletes at most `limit` rows of a source that are older than its sender's last redelivery. */
async function reap(
  adapter: Adapter<unknown>,
  what: { readonly source: string; readonly olderThan: string | number; readonly limit?: number },
): Promise<number> {
  const sql = sqlOf(adapter.dialect);
  const olderThanMs = parseDuration(what.olderThan, "olderThan");
  const old = sqlPart`source = ${what.source} and first_seen_at <= ${plain(sql.now)} - cast(${olderThanMs} as bigint)`;
  return adapter.perform(reapRows(sql, table, old, "first_seen_at", what.limit ?? 1_000));
}

export const inbox = { process, reap };
