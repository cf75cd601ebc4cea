// The ground of a key store's tests: a store, time that passes when told, and askings that differ only where a test says so.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { KeyAnswer, KeyAsk, KeyHolder, KeyOutcome, KeyStore } from "../key-store.ts";

export interface OpenedKeyStore {
  readonly keys: KeyStore;
  /** The same records, as another process reaches them: with connections of its own where there are any. */
  another(): KeyStore;
  /** Time passes, by the clock that decides leases and windows: move it, or make every record older. */
  pass(ms: number): Promise<void>;
}

export interface KeyStoreConformance {
  /** Of the runner's: `test` of vitest, `node:test` or another. */
  test(name: string, run: () => Promise<void>): unknown;
  /** An empty store, for one test. */
  open(): Promise<OpenedKeyStore>;
}

export const leaseMs = 60_000;
export const windowMs = 86_400_000;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

export const fingerprint = (body: string, version = 1) => ({ version, value: hash(`${version}:${body}`) });

let owners = 0;

/** An asking of the key `name`, by an owner of its own, with the body "order 7". */
export function asking(name: string, change: Partial<KeyAsk> = {}): KeyAsk {
  const id = hash(name);
  return {
    id,
    owner: `owner-${++owners}`,
    fingerprints: [fingerprint("order 7")],
    leaseMs,
    windowMs,
    onCrash: "rerun",
    about: {
      namespace: "shop",
      tenant: null,
      principal: "user 1",
      method: "POST",
      path: "/orders",
      hint: id.slice(0, 8),
    },
    work: null,
    ...change,
  };
}

export const created: KeyOutcome = {
  kind: "response",
  status: 201,
  headers: [["content-type", "application/json"]],
  body: new TextEncoder().encode('{"order":7}'),
};

export type Fresh = Extract<KeyAnswer, { kind: "fresh" }>;

export function isFresh(answer: KeyAnswer): asserts answer is Fresh {
  assert.equal(answer.kind, "fresh");
}

/** Claims a key that must be free, and says who holds it now. */
export async function hold(keys: KeyStore, ask: KeyAsk): Promise<KeyHolder> {
  const answer = await keys.claim(ask);
  isFresh(answer);
  return { id: ask.id, owner: ask.owner, fence: answer.fence };
}

export function isDuplicateOf(answer: KeyAnswer, outcome: KeyOutcome): void {
  assert.equal(answer.kind, "duplicate");
  sameOutcome((answer as Extract<KeyAnswer, { kind: "duplicate" }>).outcome, outcome);
}

/** A driver's bytes may be a Buffer; what counts is what is in them. */
export function sameOutcome(found: KeyOutcome | null, expected: KeyOutcome): void {
  const plain = (outcome: KeyOutcome | null) =>
    outcome?.kind === "response"
      ? { ...outcome, body: outcome.body === null ? null : Buffer.from(outcome.body).toString("hex") }
      : outcome;
  assert.deepEqual(plain(found), plain(expected));
}

export const countOf = (answers: readonly KeyAnswer[], kind: KeyAnswer["kind"]): number =>
  answers.filter((answer) => answer.kind === kind).length;
