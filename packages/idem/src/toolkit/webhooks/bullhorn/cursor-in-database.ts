// The cursor as a claim beside the events: both move in one transaction, and only the claim's holder may pull.
import { type ClaimHolder, claim, claimsIn, extend, release } from "../../claim/claims.ts";
import type { Held, InFlight } from "../../claim/decide-claim.ts";
import { type Adapter, performWhole } from "../../sql/adapter.ts";
import { type Operation, sqlOf } from "../../sql/operation.ts";
import type { Coalescing } from "../coalesce.ts";
import { type KeepAsk, keepAskOf, keepOperation } from "../keep-in-database.ts";
import { webhookEventOf } from "./bullhorn-event.ts";
import type { PullCursor, PulledBatch } from "./pull-events.ts";

export interface DatabaseCursor {
  readonly adapter: Adapter<unknown>;
  readonly source: string;
  readonly subscription: string;
  readonly leaseMs: number;
  readonly coalesce: Coalescing | null;
}

type HeldCursor = { readonly kind: "fresh"; readonly cursor: PullCursor; release(): Promise<Held> };

export async function holdCursor(options: DatabaseCursor, owner: string): Promise<HeldCursor | InFlight> {
  const { adapter, source, leaseMs } = options;
  const claims = claimsIn(adapter);
  const ask = { scope: "cursor", key: source, owner, leaseMs, windowMs: null, onCrash: "resume" } as const;
  const answer = await claims((sql) => claim(sql, ask));
  if (answer.kind !== "fresh") return answer.kind === "in-flight" ? answer : { kind: "in-flight", leaseLeftMs: 0 };
  const { row } = answer;
  return {
    kind: "fresh",
    cursor: {
      read: async () => (row.note === null ? null : Number(row.note)),
      keep: (batch) => performWhole(adapter, () => keepBatch(options, row, batch)),
    },
    release: () => claims((sql) => release(sql, row)),
  };
}

function* keepBatch(options: DatabaseCursor, holder: ClaimHolder, batch: PulledBatch): Operation<void> {
  const { adapter, source, leaseMs, coalesce } = options;
  const held = yield* extend(sqlOf(adapter.dialect), holder, leaseMs, { note: String(batch.requestId) });
  if (held === "lost") throw new Error(`somebody else pulls ${source} now; this batch is theirs to get again`);
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
