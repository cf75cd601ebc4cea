// How a try ends: done, again later, or dead. Each write carries the claim's fence; one that comes late changes nothing.
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import type { MessageHolder } from "./claim-messages.ts";

export type MessageEnd =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly afterMs: number; readonly reason: string }
  | { readonly kind: "dead"; readonly reason: string };

// For people who look at the row.
const reasonLengthMax = 1_000;

/** False: somebody else has it. */
export function* endMessage(dialect: Dialect, holder: MessageHolder, end: MessageEnd): Operation<boolean> {
  const { now } = sqlOf(dialect);
  if (end.kind === "again") {
    const { count } = yield {
      text: `
        update idem_outbox set finished = finished + 1, lease_until = 0, due_at = ${now} + $1, reason = $2
         where seq = $3 and owner = $4 and started = $5 and state = 'pending'`,
      params: [end.afterMs, end.reason.slice(0, reasonLengthMax), holder.seq, holder.owner, holder.started],
    };
    return count === 1;
  }
  const reason = end.kind === "dead" ? end.reason.slice(0, reasonLengthMax) : null;
  const { count } = yield {
    text: `
      update idem_outbox set state = $1, finished = finished + 1, ended_at = ${now}, reason = $2
       where seq = $3 and owner = $4 and started = $5 and state = 'pending'`,
    params: [end.kind, reason, holder.seq, holder.owner, holder.started],
  };
  return count === 1;
}
