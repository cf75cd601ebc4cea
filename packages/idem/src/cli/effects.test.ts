import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { storeWorld } from "./store-world.ts";

const hour = 3_600_000;

/** Two invoices for one order, and one that nobody knows the outcome of. */
async function shop() {
  const world = storeWorld({ columns: 400 });
  const { idem } = world;
  let sent = 0;
  idem.createFunction(
    { id: "invoice", retries: 1, backoff: () => 7 * hour },
    { event: "order/paid" },
    ({ event, step }) =>
      step.effect("send", { destination: "paypal/orders", entity: event.data.order }, () => {
        if (event.data.order === "lost") throw new Error("socket hang up");
        return { id: `in_${++sent}` };
      }),
  );
  await idem.start();
  const runs: string[] = [];
  for (const order of ["a", "b", "a", "lost"]) {
    const { decisions } = await idem.send({ name: "order/paid", data: { order } });
    runs.push(decisions[0]!.runId!);
  }
  await world.advance(8 * hour);
  await world.stop();
  return { ...world, lost: runs.at(-1)! };
}

describe("idem effects", () => {
  test("lists what was sent, what is doubled and what is parked, as a table or as JSON", async () => {
    const { terminal, lost } = await shop();
    expect(await terminal.run("effects")).toBe(0);
    const [title, ...rows] = stripVTControlCharacters(terminal.written.out).trimEnd().split("\n");
    expect(title).toMatch(/^DESTINATION +ENTITY +STATE +RECEIPT +FIRST TRIED/);
    expect(rows).toHaveLength(4);
    expect(rows.at(-1)).toMatch(new RegExp(`paypal/orders +lost +parked +– .*${lost} +send`));
    expect(await terminal.json("effects", "--parked")).toMatchObject([{ entity: "lost", state: "parked" }]);
    expect(await terminal.json("effects", "--doubled")).toMatchObject([
      { entity: "a", effects: [{ receipt: "in_1" }, { receipt: "in_3" }] },
    ]);
    expect(await terminal.json("effects", "--entity", "b")).toMatchObject([{ receipt: "in_2" }]);
    expect(await terminal.json("effects", "--destination", "stripe")).toEqual([]);
  });

  test("resolve settles a parked effect with a receipt, or lets it be sent, and then no more", async () => {
    const { terminal } = await shop();
    const [{ id }] = (await terminal.json("effects", "--parked")) as [{ id: string }];
    expect(await terminal.run("effects", "resolve", id)).toBe(2);
    expect(await terminal.run("effects", "resolve", id, "--receipt", "in_9", "--retry")).toBe(2);
    expect(await terminal.run("effects", "resolve", id, "--receipt", "in_9", "--reason", "seen there")).toBe(0);
    expect(await terminal.json("effects", "--entity", "lost")).toMatchObject([
      { state: "sent", receipt: "in_9", settledBy: "person", reason: "seen there" },
    ]);
    expect(await terminal.run("effects", "resolve", id, "--retry")).toBe(1);
    expect(await terminal.run("effects", "resolve", "paypal/orders:nobody:x", "--retry")).toBe(1);
    expect(await terminal.run("effects", "--receipt", "x")).toBe(2);
  });
});
