// A record of a key as it lies in its row, and back.
import { numberOf, numberOrNull, type Row } from "../sql/operation.ts";
import type { Fingerprint, KeyOutcome, KeyRecord, OnCrash } from "./key-store.ts";

export interface KeyRow extends Omit<KeyRecord, "isLeased"> {
  readonly fingerprint: Fingerprint;
  readonly owner: string;
  readonly onCrash: OnCrash;
  /** Given back on purpose when it is not positive: nobody died, so the next asker goes on, whatever `onCrash` says. */
  readonly leaseUntil: number;
  readonly dueAt: number;
}

export const keyColumns = `
  id, namespace, tenant, principal, method, path, hint, fingerprint, fingerprint_version, state, owner, fence, attempts,
  on_crash, lease_until, due_at, point, point_data, work, work_input, status, headers, body, reference, gone_reason,
  parked_reason, created_at, completed_at, ends_at`;

export function keyRowOf(row: Row): KeyRow {
  return {
    id: row.id as string,
    about: {
      namespace: row.namespace as string,
      tenant: row.tenant as string | null,
      principal: row.principal as string,
      method: row.method as string,
      path: row.path as string,
      hint: row.hint as string,
    },
    fingerprint: { version: numberOf(row.fingerprint_version), value: row.fingerprint as string },
    state: row.state as KeyRow["state"],
    owner: row.owner as string,
    fence: numberOf(row.fence),
    attempts: numberOf(row.attempts),
    onCrash: row.on_crash as OnCrash,
    leaseUntil: numberOf(row.lease_until),
    dueAt: numberOf(row.due_at),
    point: row.point === null ? null : { name: row.point as string, data: row.point_data as string },
    work: row.work === null ? null : { name: row.work as string, input: row.work_input as string },
    outcome: row.state === "completed" ? outcomeOf(row) : null,
    parkedReason: row.parked_reason as string | null,
    createdAt: numberOf(row.created_at),
    completedAt: numberOrNull(row.completed_at),
    endsAt: numberOf(row.ends_at),
  };
}

function outcomeOf(row: Row): KeyOutcome {
  const status = numberOf(row.status);
  if (row.gone_reason !== null) return { kind: "gone", status, reason: row.gone_reason as string };
  const headers = JSON.parse(row.headers as string) as readonly (readonly [string, string])[];
  if (row.reference !== null) return { kind: "reference", status, headers, reference: row.reference as string };
  return { kind: "response", status, headers, body: row.body as Uint8Array | null };
}

export const outcomeColumns = (outcome: KeyOutcome | null) => ({
  status: outcome?.status ?? null,
  headers: outcome === null || outcome.kind === "gone" ? null : JSON.stringify(outcome.headers),
  body: outcome?.kind === "response" ? outcome.body : null,
  reference: outcome?.kind === "reference" ? outcome.reference : null,
  gone_reason: outcome?.kind === "gone" ? outcome.reason : null,
});

export const recordOf = (
  { fingerprint, owner, onCrash, leaseUntil, dueAt, ...record }: KeyRow,
  now: number,
): KeyRecord => ({ ...record, isLeased: record.state === "running" && leaseUntil > now });
