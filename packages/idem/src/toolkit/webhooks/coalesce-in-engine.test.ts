// Row 34 of the pitfalls, on the engine: INSERTED and UPDATED of one placement, in either order, duplicated, 0 to 10 seconds apart, across a
// restart. One run per logical event; what was absorbed is linked to it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { inside } from "../../sdk/inside.ts";
import { openInlineStore } from "../../store/sqlite/inline-store.ts";
import { loadMigrations } from "../../store/sqlite/migrations.ts";
import { testIdem } from "../../testing/test-idem.ts";
import type { CoalesceOptions } from "./coalesce.ts";
import { genericHmac } from "./providers/generic-hmac.ts";
import { signWebhook } from "./sign-webhook.ts";
import { webhook } from "./webhook.ts";

const provider = genericHmac({ name: "bullhorn", secrets: ["s"], header: "x-signature" });

interface Change {
  readonly eventId: string;
  readonly entityId: number;
  readonly kind: string;
  readonly changed?: readonly string[];
  readonly transaction?: string;
}

const coalesce: CoalesceOptions<Change> = {
  key: ({ payload }) => ["Placement", payload.entityId, payload.transaction ?? "-"],
  windowMs: 5_000,
};

type World = ReturnType<typeof testIdem>;

/** A process: its functions and its receiver, over the world's store. */
async function begin(world: World, idem: World["idem"], over: Partial<CoalesceOptions<Change>> = {}) {
  const ran: { type: string; data: any }[] = [];
  idem.createFunction({ id: "invoice" }, { event: "bullhorn/Placement.*" }, async ({ event, step }) =>
    step.run("invoice", () => ran.push({ type: event.name, data: event.data })),
  );
  const receive = webhook<Change>({
    source: "bullhorn",
    provider,
    idem,
    platform: { ...nodePlatform, wallMs: () => world.clock.now() },
    normalise: ({ eventId, kind, changed }) => ({ id: eventId, type: `Placement.${kind}`, changed: changed ?? [] }),
    coalesce: { ...coalesce, ...over },
  });
  await idem.start();
  const deliver = async (...changes: Change[]) => {
    for (const change of changes) {
      const response = await receive(signWebhook(provider, "s", JSON.stringify(change)));
      expect(response.status).toBe(200);
    }
  };
  return { ran, deliver };
}

const single = async (over: Partial<CoalesceOptions<Change>> = {}) => {
  const world = testIdem();
  return { ...world, ...(await begin(world, world.idem, over)) };
};

const inserted: Change = { eventId: "e1", entityId: 7, kind: "INSERTED" };
const updated: Change = { eventId: "e2", entityId: 7, kind: "UPDATED", changed: ["billRate"] };
const deleted: Change = { eventId: "e3", entityId: 7, kind: "DELETED" };

describe("INSERTED and UPDATED of one thing", () => {
  test.each([
    ["in their order", [inserted, updated]],
    ["the other way round", [updated, inserted]],
    ["each delivered three times", [inserted, updated, inserted, inserted, updated, updated]],
  ])("are one run: %s", async (_name, changes) => {
    const { clock, ran, deliver } = await single();
    await deliver(...changes);
    await clock.advanceToEnd();
    expect(ran).toMatchObject([{ type: "bullhorn/Placement.INSERTED", data: { changed: ["billRate"], wasNew: true } }]);
    expect([...ran[0]!.data.carries].sort()).toEqual(["e1", "e2"]);
  });

  test("0 to 10 seconds apart are one run where the window is as long, and what came is linked to what carried it", async () => {
    for (const apartMs of [0, 100, 999, 5_000, 9_999]) {
      const { idem, clock, ran, deliver } = await single({ windowMs: 10_000 });
      await deliver(inserted);
      await clock.advance(apartMs);
      await deliver(updated, inserted);
      await clock.advanceToEnd();
      expect([apartMs, ran.length]).toEqual([apartMs, 1]);
      const linked = await Promise.all(
        ["e1", "e2"].map(async (id) => {
          const [decision] = (await idem.events.get(`bullhorn:${id}`))!.decisions;
          return ((await idem.runs.get(decision!.runId!))!.output as { logicalId: string }).logicalId;
        }),
      );
      expect(new Set(linked).size).toBe(1);
      expect(await idem.events.get(linked[0]!)).toMatchObject({ name: "bullhorn/Placement.INSERTED" });
    }
  });

  test("across a restart, on a file, are one run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "idem-webhooks-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const world = testIdem();
    const { platform } = world.idem as unknown as { platform: Platform };
    const path = join(folder, "shop.db");
    const open = () => openInlineStore({ path, migrations: loadMigrations(), clock: platform, owner: "a test" });
    const before = world.client({ store: open() });
    const first = await begin(world, before);
    await first.deliver(inserted);
    await before.stop();
    const idem = world.client({ store: open() });
    const second = await begin(world, idem);
    await second.deliver(updated, inserted);
    await world.clock.advance("5s");
    expect([first.ran, second.ran]).toMatchObject([[], [{ data: { wasNew: true, changed: ["billRate"] } }]]);
    await idem.stop();
  });

  test("of other things, and of other transactions, are runs of their own", async () => {
    const { clock, ran, deliver } = await single();
    await deliver(
      inserted,
      { ...inserted, eventId: "e9", entityId: 8 },
      { ...inserted, eventId: "e10", transaction: "t" },
    );
    await clock.advanceToEnd();
    expect(ran.length).toBe(3);
  });

  test("run as soon as both have come where two are expected", async () => {
    const { clock, ran, deliver } = await single({ expects: 2 });
    await deliver(inserted, updated);
    await clock.advance(0);
    expect(ran.length).toBe(1);
    await clock.advanceToEnd();
    expect(ran.length).toBe(1);
  });
});

test("INSERTED and then DELETED is DELETED, of something that was new", async () => {
  const { clock, ran, deliver } = await single();
  await deliver(inserted, updated, deleted);
  await clock.advanceToEnd();
  expect(ran).toMatchObject([{ type: "bullhorn/Placement.DELETED", data: { wasNew: true } }]);
});

describe("what comes after the delivery", () => {
  test("is absorbed when it adds nothing, and linked", async () => {
    const { idem, clock, ran, deliver } = await single();
    await deliver(inserted, updated);
    await clock.advance("6s");
    expect(ran.length).toBe(1);
    await deliver({ ...updated, eventId: "e4" });
    await clock.advanceToEnd();
    expect(ran.length).toBe(1);
    const late = (await idem.events.get("bullhorn:e4"))!.decisions[0]!;
    const first = (await idem.events.get("bullhorn:e1"))!.decisions[0]!;
    const { output } = (await idem.runs.get(late.runId!))!;
    expect(output).toEqual({
      kind: "absorbed",
      logicalId: ((await idem.runs.get(first.runId!))!.output as { logicalId: string }).logicalId,
    });
  });

  test("is delivered when it adds something", async () => {
    const { clock, ran, deliver } = await single();
    await deliver(inserted);
    await clock.advance("6s");
    await deliver(updated);
    await clock.advanceToEnd();
    expect(ran.map(({ type }) => type)).toEqual(["bullhorn/Placement.INSERTED", "bullhorn/Placement.UPDATED"]);
  });

  test("is never taken for a late twin next week, unless the author says how late one may be", async () => {
    for (const [lateMs, count] of [
      [undefined, 2],
      [30 * 86_400_000, 1],
    ] as const) {
      const { clock, ran, deliver } = await single(lateMs === undefined ? {} : { lateMs });
      await deliver(updated);
      await clock.advance("7d");
      await deliver({ ...updated, eventId: "e5" });
      await clock.advanceToEnd();
      expect(ran.length).toBe(count);
    }
  });

  test("again and again, of one key, is delivered each time it adds something, in order", async () => {
    const { clock, ran, deliver } = await single({ lateMs: 60_000 });
    for (let i = 0; i < 5; i++) {
      await deliver({ ...updated, eventId: `u${i}`, changed: [`field${i}`] });
      await clock.advance("6s");
    }
    expect(ran.map(({ data }) => data.carries)).toEqual([["u0"], ["u1"], ["u2"], ["u3"], ["u4"]]);
  });
});

test("a run that died after it had delivered, and is entered again, delivers nothing more", async () => {
  const { idem, clock, ran, deliver } = await single();
  const { send } = idem[inside].deliveries;
  let failures = 2;
  idem[inside].deliveries.send = (async (...args: Parameters<typeof send>) => {
    const sent = await send(...args);
    if (String((args[0] as { id?: string }).id).includes("logical") && failures-- > 0) throw new Error("died");
    return sent;
  }) as never;
  await deliver(inserted, updated);
  await clock.advanceToEnd();
  expect(failures).toBeLessThan(2);
  expect(ran.length).toBe(1);
});

test("a key that cannot be told sends the delivery to quarantine", async () => {
  const { idem, deliver } = await single({
    key: () => {
      throw new Error("no entity");
    },
  });
  await deliver(inserted);
  expect((await idem.events.list()).map(({ name }) => name)).toEqual(["bullhorn/quarantined"]);
});

test("a logical event that somebody else sends under the next number absorbs nothing", async () => {
  const { idem, clock, ran, deliver } = await single();
  await deliver(updated);
  await clock.advanceToEnd();
  const { id, data } = (await idem.events.list({ name: "bullhorn/Placement.UPDATED" }))[0]!;
  const [, before, stretch] = /^(.+-)(\d+)\.0$/.exec(id)!;
  const forged = { ...(data as object), changed: ["hours"], carries: ["forged"], openedAt: clock.now() };
  for (const next of [`${stretch}.1`, `${Number(stretch) + 1}.0`]) {
    await idem.send({ id: before + next, name: "bullhorn/nothing", data: forged });
  }
  await deliver({ ...updated, eventId: "e9", changed: ["hours"] });
  await clock.advanceToEnd();
  expect(ran.map(({ data }) => data.changed)).toEqual([["billRate"], ["hours"]]);
});
