// What people did by hand is kept with who, what, to which thing, when and why, and read newest first.
import { describe, expect, test } from "vitest";
import { env, type OpenStore, openWorld } from "./world.ts";

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
