// A process that is told things by others is killed with what it was told in its hands.
import { writeFileSync } from "node:fs";
import { signWebhook } from "idem/webhooks";
import { describe, expect, type TestContext, test } from "vitest";
import type { Ground } from "../../torture/toolkit/ground.ts";
import { provider, type Subscription, secret, subscriptionOf } from "../../torture/toolkit/hooks.ts";
import { Life } from "../../torture/toolkit/life.ts";
import type { Death } from "../../torture/toolkit/points.ts";

export function killHooks(openGround: () => Promise<Ground>, dialect: Ground["dialect"]): void {
  describe.concurrent("killed with what it was told in its hands", () => {
    async function open({ onTestFinished }: TestContext) {
      const ground = await openGround();
      const lives: Life[] = [];
      onTestFinished(async () => {
        await Promise.all(lives.map((life) => life.end()));
        await ground.remove();
      });
      const start = async (): Promise<Life> => {
        const life = await Life.start({ ...ground, serves: "hooks" });
        lives.push(life);
        return life;
      };
      return { ground, start };
    }

    const deliver = async (life: Life, path: string, id: string, death?: Death) => {
      const { headers, body } = signWebhook(provider, secret, JSON.stringify({ id, type: "paid" }));
      const bytes = await new Response(body).arrayBuffer();
      return life.post(path, { headers: [...headers], body: bytes, ...(death === undefined ? {} : { death }) });
    };
    const taken = { kind: "answer", status: 200 };

    test.concurrent("a delivery that was not answered is delivered again and booked once, whether its process died before it was kept or after", async (context) => {
      const { ground, start } = await open(context);
      const deaths: Readonly<Record<string, Death>> = {
        before: { at: "statement:before" },
        ...(dialect === "postgres" ? { uncommitted: { at: "commit:before" }, committing: { at: "committing" } } : {}),
        after: { at: "answer" },
      };
      let life = await start();
      for (const [id, death] of Object.entries(deaths)) {
        expect(await deliver(life, "/bank", id, death), id).toEqual({ kind: "nothing" });
        expect(ground.deaths().at(-1)).toBe("at" in death && death.at);
        life = await start();
      }
      for (const id of Object.keys(deaths)) {
        const told = await deliver(life, "/bank", id);
        expect(told, id).toMatchObject(taken);
        if (id === "before" || id === "after") expect(told).toMatchObject({ isReplay: id === "after" });
      }
      // Killed once more, with the booking made and not recorded: only that one is entered again, under its key.
      expect(await life.post("/process", { death: { at: "effect:after", about: "after" } })).toEqual({
        kind: "nothing",
      });
      await ground.endLeases();
      await (await start()).post("/process");
      for (const id of Object.keys(deaths)) {
        const keys = ground.charges(id);
        expect(new Set(keys).size, id).toBe(1);
        if (id === "after") expect(keys.length).toBe(2);
      }
    });

    test.concurrent("a delivery that starts a run is kept with it or not at all, and its run is one however often it is delivered", async (context) => {
      const { ground, start } = await open(context);
      const deaths = {
        before: "engine:ingest:before-commit",
        after: "engine:ingest:after-commit",
      };
      let life = await start();
      for (const [id, at] of Object.entries(deaths)) {
        expect(await deliver(life, "/bank-run", id, { at }), id).toEqual({ kind: "nothing" });
        await ground.endLeases();
        life = await start();
      }
      for (const id of Object.keys(deaths)) {
        expect(await deliver(life, "/bank-run", id)).toMatchObject({ ...taken, isReplay: id !== "before" });
      }
      const { body } = (await life.post("/settle")) as { body: unknown[] };
      expect(body).toHaveLength(2);
      for (const id of Object.keys(deaths)) expect(new Set(ground.charges(id)).size, id).toBe(1);
    });

    test.concurrent("a batch that was fetched and not kept is got again by the next process, and nothing is lost or booked twice", async (context) => {
      const { ground, start } = await open(context);
      const subscription: Subscription = { waiting: ["e1", "e2", "e3", "e4", "e5"], batches: [] };
      writeFileSync(subscriptionOf(ground.folder), JSON.stringify(subscription));
      expect(await (await start()).post("/pull", { death: { at: "fetched" } })).toEqual({ kind: "nothing" });
      await ground.endLeases();
      // The second batch is handed out, and the cursor's commit is not made.
      const second = await start();
      expect(await second.post("/pull", { death: { at: "fetched" } })).toEqual({ kind: "nothing" });
      await ground.endLeases();
      const third = await start();
      expect(await third.post("/pull")).toMatchObject({ body: { kind: "done", reGotCount: 1, lostCount: 0 } });
      await third.post("/process");
      for (const id of ["e1", "e2", "e3", "e4", "e5"]) expect(ground.charges(id), id).toHaveLength(1);
    });
  });
}
