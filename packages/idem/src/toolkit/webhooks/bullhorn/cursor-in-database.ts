// The cursor as a row beside the events: both move in one transaction, and the same row says who may pull.
import type { Adapter } from "../../sql/adapter.ts";
import { type Dialect, numberOf, type Operation, sqlOf } from "../../sql/operation.ts";
import type { Coalescing } from "../coalesce.ts";
import { type KeepAsk, keepAskOf, keepOperation } from "../keep-in-database.ts";
import { performWhole } from "../whole.ts";
import { webhookEventOf } from "./bullhorn-event.ts";
import type { PullCursor, PulledBatch } from "./pull-events.ts";

export interface CursorHolder {
  readonly source: string;
  readonly owner: string;
  readonly fence: number;
}

export interface DatabaseCursor {
  readonly adapter: Adapter<any>;
  readonly source: string;
  readonly subscription: string;
  readonly leaseMs: number;
  readonly coalesce: Coalescing | null;
}

/** Null: somebody else pulls. */
export async function holdCursor(
  options: DatabaseCursor,
  owner: string,
): Promise<{ readonly cursor: PullCursor; release(): Promise<void> } | null> {
  const { adapter, source, leaseMs } = options;
  const { dialect } = adapter;
  const held = await adapter.perform(claimCursor(dialect, { source, owner, leaseMs }));
  if (held === null) return null;
  const holder = { source, owner, fence: held.fence };
  return {
    cursor: {
      read: async () => held.at,
      keep: (batch) => performWhole(adapter, () => keepBatch(options, holder, batch)),
    },
    release: () => adapter.perform(releaseCursor(holder)),
  };
}

function* claimCursor(
  dialect: Dialect,
  { source, owner, leaseMs }: { readonly source: string; readonly owner: string; readonly leaseMs: number },
): Operation<{ readonly at: number | null; readonly fence: number } | null> {
  const { now } = sqlOf(dialect);
  const { rows } = yield {
    text: `
      insert into idem_webhook_cursors (source, owner, fence, lease_until, moved_at)
      values ($1, $2, 1, ${now} + cast($3 as bigint), ${now})
      on conflict (source) do update
         set owner = excluded.owner, fence = idem_webhook_cursors.fence + 1, lease_until = excluded.lease_until
       where idem_webhook_cursors.lease_until <= ${now}
      returning cursor, fence`,
    params: [source, owner, leaseMs],
  };
  const [row] = rows;
  if (row === undefined) return null;
  return { at: row.cursor === null ? null : numberOf(row.cursor), fence: numberOf(row.fence) };
}

function* keepBatch(options: DatabaseCursor, holder: CursorHolder, batch: PulledBatch): Operation<void> {
  const { adapter, source, leaseMs, coalesce } = options;
  const { now } = sqlOf(adapter.dialect);
  const { count } = yield {
    text: `
      update idem_webhook_cursors set cursor = $1, moved_at = ${now}, lease_until = ${now} + cast($2 as bigint)
       where source = $3 and owner = $4 and fence = $5`,
    params: [String(batch.requestId), leaseMs, source, holder.owner, holder.fence],
  };
  if (count !== 1) throw new Error(`somebody else pulls ${source} now; this batch is theirs to get again`);
  for (const event of batch.events) {
    const ask = keepAskOf(
      { source, windowMs: foreverMs, coalesce },
      webhookEventOf(source, event),
      JSON.stringify(event),
    );
    yield* keepOperation(adapter.dialect, ask, coalesce);
  }
  if (batch.isLost) yield* keepOperation(adapter.dialect, lostAsk(options, batch.requestId, holder.fence), null);
}

// As long as the cursor: a batch may be got again whenever.
const foreverMs = 100 * 366 * 24 * 60 * 60 * 1_000;

/** The fence is in the id: numbers begin again with a new subscription, and its alarms must not be taken for old ones. */
function lostAsk({ source, subscription }: DatabaseCursor, requestId: number, fence: number): KeepAsk {
  const payload = { subscription, requestId };
  const event = {
    source,
    id: `lost-${requestId}.${fence}`,
    type: "events_lost",
    subject: subscription,
    at: null,
    changed: [],
    payload,
  };
  return keepAskOf({ source, windowMs: foreverMs, coalesce: null }, event, JSON.stringify(payload));
}

function* releaseCursor({ source, owner, fence }: CursorHolder): Operation<void> {
  yield {
    text: "update idem_webhook_cursors set lease_until = 0 where source = $1 and owner = $2 and fence = $3",
    params: [source, owner, fence],
  };
}
