// idem.send(event, { tx: adapter.wrap(tx) }): the event and the user's write are one commit, through every driver that has an adapter.
import { expect, onTestFinished, test } from "vitest";
import { until, usePostgres } from "../../testing/postgres-world.suite.ts";
import { type Closing, postgresDrivers } from "./adapters.suite.ts";

const open = usePostgres();

const closing: Closing = (close) =>
  onTestFinished(async () => {
    await close();
  });

test("through every driver, an event exists exactly if the transaction it was sent in commits", async () => {
  const world = await open();
  const idem = await world.node();
  const ran: string[] = [];
  idem.createFunction({ id: "ship" }, { event: "order/placed" }, async ({ event }) => {
    ran.push(event.data.item);
  });
  await idem.start();
  for (const [item, openDriver] of Object.entries(postgresDrivers)) {
    const { adapter, native } = openDriver(world.url.replace(/\?.*/, ""), closing);
    const place = (what: string, refusal?: Error) =>
      adapter.transaction(async (tx) => {
        await native(tx, `insert into effects (world, what) values ('${world.schema}', '${what}')`);
        const sent = await idem.send({ name: "order/placed", data: { item: what } }, { tx: adapter.wrap(tx) });
        if (refusal !== undefined) throw refusal;
        return sent;
      });
    await expect(place(`not through ${item}`, new Error("no"))).rejects.toThrow("no");
    expect(await place(item)).toMatchObject({ queued: [expect.any(String)] });
  }
  const all = Object.keys(postgresDrivers).sort();
  await until(() => expect(ran.toSorted()).toEqual(all));
  expect((await world.column("select what from effects where world = $1", world.schema)).sort()).toEqual(all);
  expect(await world.column(`select count(*)::int from ${world.schema}.events`)).toEqual([all.length]);
});

test("through every driver, a transaction of another database is refused", async () => {
  const world = await open();
  const idem = await world.node();
  await idem.start();
  const other = `other_${world.schema}`;
  await (await world.session()).query(`create database ${other}`);
  for (const openDriver of Object.values(postgresDrivers)) {
    const { adapter } = openDriver(world.url.replace(/\/\w+\?.*/, `/${other}`), closing);
    const work = adapter.transaction((tx) => idem.send({ name: "order/placed", data: {} }, { tx: adapter.wrap(tx) }));
    await expect(work).rejects.toMatchObject({ code: "TRANSACTION_UNUSABLE" });
  }
});
