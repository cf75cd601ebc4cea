import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { findAudit } from "./find-audit.ts";

const env = "default";

async function audited(count: number) {
  const store = new MemoryStore(new ManualClock());
  for (let n = 0; n < count; n++) {
    const reason = n % 3 === 0 ? "Wrong Order" : "";
    await store.audit({ env, action: "cancel-run", subject: `r${n}`, reason, actor: n % 2 === 0 ? "ann" : "ben" });
  }
  return store.reads;
}

test("words are found in every entry however they are written, and the next page goes on behind the last one shown", async () => {
  const reads = await audited(12);
  const first = await findAudit(reads, env, { text: "wrong order", limit: 2 }, 1_000);
  expect(first.rows.map(({ subject }) => subject)).toEqual(["r9", "r6"]);
  const second = await findAudit(reads, env, { text: "wrong order", limit: 2, before: first.next! }, 1_000);
  expect(second.rows.map(({ subject }) => subject)).toEqual(["r3", "r0"]);
  expect(second.next).toBeNull();
  const ann = await findAudit(reads, env, { text: "wrong", actor: "ann", limit: 9 }, 1_000);
  expect(ann.rows.map(({ subject }) => subject)).toEqual(["r6", "r0"]);
});

test("no more entries are looked at than may be, and the page says where it stopped", async () => {
  const reads = await audited(1_201);
  const { rows, next } = await findAudit(reads, env, { text: "r7x", limit: 5 }, 1_000);
  expect(rows).toEqual([]);
  const rest = await findAudit(reads, env, { text: "r", limit: 500, before: next! }, 1_000);
  expect([rest.rows.length, rest.rows[0]!.subject, rest.next]).toEqual([201, "r200", null]);
});

test("a page longer than one read of the store is read in several", async () => {
  const reads = await audited(1_201);
  const { rows, next } = await findAudit(reads, env, { limit: 1_000 }, 10_000);
  expect([rows.length, rows.at(-1)!.id]).toEqual([1_000, next]);
});
