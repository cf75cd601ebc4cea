// Acts of people, done by hand, are kept with who, what, to which thing, when and why, and read newest first.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import { env, newEvent, type OpenStore, openWorld, plainRerun, signalWait, startPair, value } from "./world.ts";

export function auditSuite(open: OpenStore): void {
  describe("the audit", () => {
    const page = { limit: 10 };

    test("who did what to which thing, when and why is kept, of one's own environment only", async () => {
      const { store, clock } = await openWorld(open);
      const actor = "operator session 3f9a1c";
      await store.audit({ env, action: "cancel-run", subject: "run-1", reason: "wrong order", actor });
      await store.audit({ env: "other", action: "cancel-run", subject: "run-2", reason: "", actor });
      const { rows, next } = await store.reads.auditPage(env, page);
      expect(rows).toEqual([
        {
          id: expect.any(String),
          at: clock.wallMs(),
          actor,
          action: "cancel-run",
          subject: "run-1",
          reason: "wrong order",
        },
      ]);
      expect(next).toBeNull();
    });

    test("operations that people ask for keep who asked, and what no person did keeps nothing", async () => {
      const { store } = await openWorld(open);
      const actor = "cli on build-7";
      const functions = [{ fn: "shop-pay", id: "pay", config: "{}", crons: [] }];
      await store.register({ env, app: "shop", functions });
      await store.pause({ env, fn: "shop-pay", paused: true, reason: "wrong price", actor });
      await store.pause({ env, fn: "shop-pay", paused: false, reason: "" });
      const setting = { env, kind: "source", name: "ci", over: null };
      await store.set({ ...setting, value: "1", reason: "made", actor });
      await store.set({ ...setting, value: "2", reason: null });
      const claim = { env, scope: "x", key: "k", token: "t", fingerprint: null, leaseMs: 1_000, windowMs: 60_000 };
      await store.claim(claim);
      await store.release({ env, scope: "x", key: "k", fence: null, reason: "by hand", actor });
      const { rows } = await store.reads.auditPage(env, page);
      expect(rows.map(({ action, subject, reason, actor: who }) => [action, subject, reason, who])).toEqual([
        ["release-key", "x k", "by hand", actor],
        ["change-setting", "source:ci", "made", actor],
        ["resume-function", "shop-pay", "", ""],
        ["pause-function", "shop-pay", "wrong price", actor],
      ]);
    });

    test("what people and programs do alike is kept in the commit that does it, once, where a person asked", async () => {
      const world = await openWorld(open);
      const { store } = world;
      const actor = "cli on build-7";
      const byHand = { actor, reason: "wrong order" };
      const send = (id: string, over: object = {}) => world.ingest([newEvent(id)], [startPair(`run of ${id}`)], over);
      await send("e1", { byHand });
      await send("e1", { byHand });
      await send("e2");
      const cancel = { env, result: "{}", releaseKey: false, ingest: null };
      await store.cancel({ ...cancel, runId: "run of e1", byHand });
      await store.cancel({ ...cancel, runId: "run of e1", byHand });
      await store.cancel({ ...cancel, runId: "run of e2" });
      await store.cancel({ ...cancel, runId: "nobody", byHand });
      const rerun = { env, rank: 1, leaseTo: null, ...plainRerun };
      await store.rerun({ ...rerun, runId: "run of e1", newRunId: "again", byHand });
      await store.rerun({ ...rerun, runId: "run of e1", newRunId: "again", byHand });
      await store.rerun({ ...rerun, runId: "run of e2", newRunId: "again-2" });
      const { rows } = await store.reads.auditPage(env, page);
      expect(rows.map(({ action, subject, reason, actor: who }) => [action, subject, reason, who])).toEqual([
        ["rerun-run", "run of e1", "wrong order", actor],
        ["cancel-run", "run of e1", "wrong order", actor],
        ["send-events", "e1", "wrong order", actor],
      ]);
    });

    test("a signal somebody raised is kept with the run it woke, and one that nobody waited for is not", async () => {
      const world = await openWorld(open);
      const { store } = world;
      await world.startWaiting("r1", [signalWait("s", "approved")]);
      await store.signal(env, "approved", value(1), { actor: "dev" });
      await store.signal(env, "approved", value(1), { actor: "dev" });
      const { rows } = await store.reads.auditPage(env, page);
      expect(rows.map(({ action, subject, reason }) => [action, subject, reason])).toEqual([
        ["raise-signal", "approved", "woke r1"],
      ]);
    });

    test("entries are found by what was done, by whom, to which thing and when, all at once and page by page", async () => {
      const { store, clock } = await openWorld(open);
      const long = "é".repeat(5_000);
      const done: readonly (readonly [action: "cancel-run" | "rerun-run", actor: string, subject: string])[] = [
        ["cancel-run", "ann", "r1"],
        ["rerun-run", "ann", "r1"],
        ["cancel-run", "ben", "r2"],
        ["cancel-run", "ann", long],
        ["cancel-run", "ann", `${long}x`],
        ["cancel-run", "ann", "r1"],
      ];
      const startedAt = clock.wallMs();
      for (const [action, actor, subject] of done) {
        await store.audit({ env, action, subject, reason: "", actor });
        clock.advance(1_000);
      }
      const found = async (filter: object) => {
        const numbers: number[] = [];
        for (let before: string | undefined; ; ) {
          const { rows, next } = await store.reads.auditPage(env, {
            limit: 2,
            ...filter,
            ...(before === undefined ? {} : { before }),
          });
          numbers.push(...rows.map(({ at }) => (at - startedAt) / 1_000));
          if (next === null) return numbers;
          before = next;
        }
      };
      expect(await found({})).toEqual([5, 4, 3, 2, 1, 0]);
      expect(await found({ action: "cancel-run" })).toEqual([5, 4, 3, 2, 0]);
      expect(await found({ actor: "ann" })).toEqual([5, 4, 3, 1, 0]);
      expect(await found({ subject: "r1" })).toEqual([5, 1, 0]);
      expect(await found({ subject: long })).toEqual([3]);
      expect(await found({ subject: "r1", actor: "ann", action: "cancel-run" })).toEqual([5, 0]);
      expect(await found({ actor: "ben", action: "rerun-run" })).toEqual([]);
      expect(await found({ since: startedAt + 2_000, until: startedAt + 4_000 })).toEqual([3, 2]);
      expect(await found({ actor: "ann", since: startedAt + 1_000, until: startedAt + 4_000 })).toEqual([3, 1]);
    });

    test("entries from before an instant go when that is asked for, a bounded number in a commit, and no others", async () => {
      const { store, clock } = await openWorld(open);
      for (let day = 0; day < 5; day++) {
        await store.audit({ env, action: "cancel-run", subject: `r${day}`, reason: "", actor: "dev" });
        clock.advance(dayMs);
      }
      const input = { env, before: clock.wallMs(), after: "", max: 2 };
      expect((await store.prune(input)).deleted.audit).toBe(0);
      const auditBefore = clock.wallMs() - 2 * dayMs;
      const gone: number[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const answer = await store.prune({ ...input, after, auditBefore });
        gone.push(answer.deleted.audit);
        after = answer.after;
      }
      expect(gone).toEqual([2, 1]);
      const { rows } = await store.reads.auditPage(env, page);
      expect(rows.map(({ subject }) => subject)).toEqual(["r4", "r3"]);
      await store.audit({ env, action: "cancel-run", subject: "r5", reason: "", actor: "dev" });
      expect((await store.reads.auditPage(env, page)).rows.map(({ subject }) => subject)).toEqual(["r5", "r4", "r3"]);
    });

    test("a page goes on where the one before ended, and a cursor nobody gave finds nothing it should not", async () => {
      const { store } = await openWorld(open);
      for (const n of [1, 2, 3, 4, 5]) {
        await store.audit({ env, action: "rerun-run", subject: `run-${n}`, reason: "", actor: "dev" });
      }
      const seen: string[] = [];
      for (let before: string | null = null, pages = 0; pages < 4; pages++) {
        const { rows, next } = await store.reads.auditPage(env, { limit: 2, ...(before === null ? {} : { before }) });
        seen.push(...rows.map(({ subject }) => subject));
        before = next;
        if (next === null) break;
      }
      expect(seen).toEqual(["run-5", "run-4", "run-3", "run-2", "run-1"]);
      expect((await store.reads.auditPage(env, { limit: 2, before: "0" })).rows).toEqual([]);
    });

    test("a thing with a long name is kept whole", async () => {
      const { store } = await openWorld(open);
      const subject = "é".repeat(5_000);
      await store.audit({ env, action: "raise-signal", subject, reason: "", actor: "dev" });
      expect((await store.reads.auditPage(env, page)).rows[0]!.subject).toBe(subject);
    });
  });
}
