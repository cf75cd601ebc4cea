// A process that serves requests is killed in each window in which a request can be cut off, and the client asks the next one again.
//
//   a  before the claim          c  after the effect, before its outcome is saved
//   b  after the claim           d  after that, before the client is told
import { describe, expect, type TestContext, test } from "vitest";
import type { Ground } from "../../torture/toolkit/ground.ts";
import { Life, type Told } from "../../torture/toolkit/life.ts";
import type { Death } from "../../torture/toolkit/points.ts";
import type { Mode } from "../../torture/toolkit/shop.ts";

type Deaths = Readonly<Record<string, Death>>;
const plain: Deaths = {
  a: { at: "claim:before" },
  b: { at: "claim:after" },
  c: { at: "effect:after" },
  d: { at: "complete:after" },
};

const executed = { kind: "answer", status: 201, isReplay: false };
const replayed = { kind: "answer", status: 201, isReplay: true };
const unknown = {
  kind: "answer",
  status: 409,
  isReplay: false,
  body: { type: expect.stringMatching(/outcome-unknown$/), retryable: false },
};

interface Seen {
  /** What the client was told when it asked again, and once more after that. */
  readonly told: Readonly<Record<string, Told>>;
  readonly again: Readonly<Record<string, Told>>;
  /** How often each order was charged, and under how many keys. */
  readonly charges: Readonly<Record<string, readonly [count: number, keys: number]>>;
}

const each = <T>(deaths: Deaths, value: (window: string) => T): Record<string, T> =>
  Object.fromEntries(Object.keys(deaths).map((window) => [window, value(window)]));

/** Only in window c was the charge made and not recorded. */
const charged = (deaths: Deaths) => each(deaths, (window) => (window === "c" ? [2, 1] : [1, 1]));

export function killWindows(openGround: () => Promise<Ground>, dialect: Ground["dialect"]): void {
  describe.concurrent("killed in the middle of a request", () => {
    /** Removed with everything that lived on it. */
    const open = async ({ onTestFinished }: Pick<TestContext, "onTestFinished">): Promise<Ground> => {
      const ground = await openGround();
      onTestFinished(async () => {
        await Promise.all(lives.get(ground)?.map((life) => life.end()) ?? []);
        await ground.remove();
      });
      return ground;
    };
    const lives = new Map<Ground, Life[]>();
    const start = async (ground: Ground): Promise<Life> => {
      const life = await Life.start(ground);
      lives.set(ground, [...(lives.get(ground) ?? []), life]);
      return life;
    };

    /** Each life hears again what the one before it died of, and then dies of the next. */
    async function kill(ground: Ground, mode: Mode, deaths: Deaths): Promise<Seen> {
      const told: Record<string, Told> = {};
      let life = await start(ground);
      for (const [order, death] of Object.entries(deaths)) {
        const about = "at" in death && death.at.startsWith("effect") ? { ...death, about: order } : death;
        expect(await life.ask({ mode, order, death: about }), order).toEqual({ kind: "nothing" });
        expect(await life.died()).toBe("SIGKILL");
        expect(ground.deaths().at(-1)).toBe("at" in death ? death.at : "");
        await ground.endLeases();
        life = await start(ground);
        told[order] = await life.ask({ mode, order });
      }
      const again: Record<string, Told> = {};
      for (const order of Object.keys(deaths)) again[order] = await life.ask({ mode, order });
      await life.end();
      const charges = each(deaths, (order) => {
        const keys = ground.charges(order);
        return [keys.length, new Set(keys).size] as const;
      });
      return { told, again, charges };
    }

    test.concurrent("a plain route that parks charges once at most, and says so when the outcome is unknown", async (context) => {
      const { told, again, charges } = await kill(await open(context), "park", plain);
      expect(told).toMatchObject({ a: executed, b: unknown, c: unknown, d: replayed });
      expect(again).toMatchObject({ a: replayed, b: unknown, c: unknown, d: replayed });
      expect(charges).toEqual({ a: [1, 1], b: [0, 0], c: [1, 1], d: [1, 1] });
    });

    test.concurrent.for(["resume", "rerun"] as const)(
      "a plain route with onCrash %s charges again only where the charge was made and not recorded, under the same key",
      async (mode, context) => {
        // What they share is shown by one of them.
        const deaths: Deaths = mode === "resume" ? plain : { b: plain.b!, c: plain.c! };
        const { told, again, charges } = await kill(await open(context), mode, deaths);
        expect(told).toMatchObject(each(deaths, (window) => (window === "d" ? replayed : executed)));
        expect(again).toMatchObject(each(deaths, () => replayed));
        expect(charges).toEqual(charged(deaths));
      },
    );

    test.concurrent("in one transaction with its key an order is written once, wherever its process was killed", async (context) => {
      const ground = await open(context);
      const deaths: Deaths = {
        a: { at: "begin:before" },
        b: { at: "effect:before" },
        c: { at: "commit:before" },
        // Its commit may have been carried out, or not: the next asker finds out.
        ...(dialect === "postgres" ? { committing: { at: "committing" } } : {}),
        d: { at: "commit:after" },
      };
      const { told, again } = await kill(ground, "same-transaction", deaths);
      const { committing, ...sure } = told;
      expect(sure).toMatchObject({ a: executed, b: executed, c: executed, d: replayed });
      if (dialect === "postgres") expect(committing).toMatchObject({ kind: "answer", status: 201 });
      expect(again).toMatchObject(each(deaths, () => replayed));
      const orders = await ground.rows("select id from orders");
      expect(orders.map(({ id }) => id).sort()).toEqual(Object.keys(deaths).sort());
    });

    const betweenPhases: Deaths = {
      a: { at: "claim:before" },
      b: { at: "claim:after" },
      c: { at: "effect:after" },
      "behind-the-charge": { at: "reach:after", visit: 2 },
      d: { at: "commit:after", visit: 2 },
    };
    const rowsOf = async (ground: Ground, deaths: Deaths) => {
      const names = Object.keys(deaths).sort();
      expect((await ground.rows("select id from orders")).map(({ id }) => id).sort()).toEqual(names);
      expect((await ground.rows("select order_id from receipts")).map((row) => row.order_id).sort()).toEqual(names);
    };

    test.concurrent("a list of phases goes on behind its last one: each row is written once, and only the charge it was in is made again, under the same key", async (context) => {
      const ground = await open(context);
      const { told, again, charges } = await kill(ground, "phases", betweenPhases);
      expect(told).toMatchObject(each(betweenPhases, (window) => (window === "d" ? replayed : executed)));
      expect(again).toMatchObject(each(betweenPhases, () => replayed));
      expect(charges).toEqual(charged(betweenPhases));
      await rowsOf(ground, betweenPhases);
    });

    test.concurrent("what nobody asks for again a completer ends, and dies over, without doing more than a retry would", async (context) => {
      const ground = await open(context);
      const { b, c } = betweenPhases as Record<string, Death>;
      const first = await start(ground);
      expect(await first.ask({ mode: "phases", order: "b", death: b! })).toEqual({ kind: "nothing" });
      await ground.endLeases();
      const second = await start(ground);
      // The completer itself is killed, with the charge made and not recorded.
      expect(await second.post("/complete", { death: { ...c!, about: "b" } as Death })).toEqual({ kind: "nothing" });
      await ground.endLeases();
      const third = await start(ground);
      expect(await third.post("/complete")).toMatchObject({ body: { ended: 1, left: 0, parked: 0, lost: 0 } });
      expect(await third.ask({ mode: "phases", order: "b" })).toMatchObject(replayed);
      const keys = ground.charges("b");
      expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
      await rowsOf(ground, { b: b! });
    });

    test.concurrent("a request behind a run is answered by that run, whoever died: it is charged under one key, and again only where the charge was not recorded", async (context) => {
      const deaths: Deaths = {
        a: { at: "engine:ingest:before-commit" },
        b: { at: "engine:ingest:after-commit" },
        c: { at: "effect:after" },
        d: { at: "engine:finish:after-commit" },
      };
      const { told, again, charges } = await kill(await open(context), "run", deaths);
      expect(told).toMatchObject(each(deaths, (window) => (window === "a" ? executed : replayed)));
      expect(again).toMatchObject(each(deaths, () => replayed));
      expect(charges).toEqual(charged(deaths));
    });
  });
}
