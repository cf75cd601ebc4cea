// Fifty clients that ask at once, of four processes that know nothing of each other but their database.
import { expect, test } from "vitest";
import type { Ground } from "../../torture/toolkit/ground.ts";
import { Life } from "../../torture/toolkit/life.ts";

export function manyProcesses(openGround: () => Promise<Ground>): void {
  test.concurrent("fifty requests at once with one key, to four processes, execute once; the others get the same answer or are told to come back", async ({
    onTestFinished,
  }) => {
    const ground = await openGround();
    const lives = await Promise.all(Array.from({ length: 4 }, () => Life.start(ground)));
    onTestFinished(async () => {
      await Promise.all(lives.map((life) => life.end()));
      await ground.remove();
    });
    const ask = (mode: "park" | "same-transaction" | "phases") =>
      Promise.all(Array.from({ length: 50 }, (_, i) => lives[i % 4]!.ask({ mode, order: mode })));
    for (const mode of ["park", "same-transaction", "phases"] as const) {
      const told = (await ask(mode)).map((each) => (each.kind === "answer" ? each : expect.unreachable()));
      expect(told.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
      const successes = told.filter(({ status }) => status === 201);
      expect(successes.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect(new Set(successes.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    }
    expect(ground.charges("park")).toHaveLength(1);
    expect(ground.charges("phases")).toHaveLength(1);
    const orders = (await ground.rows("select id from orders")).map(({ id }) => id);
    expect(orders.sort()).toEqual(["phases", "same-transaction"]);
  });
}
