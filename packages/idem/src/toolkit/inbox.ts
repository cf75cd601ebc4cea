// The inbox: a message and what it changes are one commit, so a message that comes twice changes nothing twice.
// Insert first, then the user's writes: a second delivery at the same time waits for the first to commit, or takes its place if it does not.

import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { openWith } from "./open-with.ts";
import type { Adapter } from "./sql/adapter.ts";
import { type Dialect, numberOf, type Operation, sqlOf } from "./sql/operation.ts";

export interface InboxMessage {
  /** Who sends: "shop", "stripe". */
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

function* markSeen(
  dialect: Dialect,
  message: Required<Omit<InboxMessage, "digest">>,
  digest: string | null,
): Operation<Seen> {
  const { now, stand } = sqlOf(dialect);
  const { source, consumer, id } = message;
  for (let tries = 0; tries < 3; tries++) {
    const first = yield {
      text: `
        insert into idem_inbox (source, consumer, id, digest, first_seen_at) values ($1, $2, $3, $4, ${now})
        on conflict (source, consumer, id) do nothing
        returning digest, first_seen_at`,
      params: [source, consumer, id, digest],
    };
    if (first.rows[0] !== undefined)
      return { isFirst: true, digest, firstSeenAt: numberOf(first.rows[0].first_seen_at) };
    const [there] = (yield {
      text: `
        select digest, first_seen_at, ${stand} as stood from idem_inbox where source = $1 and consumer = $2 and id = $3`,
      params: [source, consumer, id],
    }).rows;
    if (there !== undefined) {
      return { isFirst: false, digest: there.digest as string | null, firstSeenAt: numberOf(there.first_seen_at) };
    }
  }
  throw errors.ROW_CONTENDED({ table: "idem_inbox" });
}

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
    begin: () => markSeen(adapter.dialect, { source, consumer, id }, digest),
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
  adapter: Adapter<any>,
  what: { readonly source: string; readonly olderThan: string | number; readonly limit?: number },
): Promise<number> {
  const { now, skipLocked } = sqlOf(adapter.dialect);
  const olderThanMs = parseDuration(what.olderThan, "olderThan");
  const place = adapter.dialect === "postgres" ? "ctid" : "rowid";
  return adapter.perform(
    (function* (): Operation<number> {
      const { count } = yield {
        text: `
          delete from idem_inbox where ${place} in (
            select ${place} from idem_inbox where source = $1 and first_seen_at <= ${now} - $2 limit $3 ${skipLocked})`,
        params: [what.source, olderThanMs, what.limit ?? 1_000],
      };
      return count;
    })(),
  );
}

export const inbox = { process, reap };
