// Why it ran, did not run, or ran twice: from the stored rows.
import { describe, expect, test } from "vitest";
import { everyStore, useEveryStore } from "../../api/every-store.suite.ts";
import { explainSubject } from "./explain-subject.ts";

const open = useEveryStore();

const shop = async (store: (typeof everyStore)[number]) => {
  const made = await open(store);
  await made.start({
    "draft-invoice": {
      on: "bullhorn/placement",
      run: async ({ step, event }) => {
        await step.run("create-draft", () => ({ id: `in_${event.data.eventType}` }));
        await step.waitForEvent("wait-for-approval", { event: "approved", timeout: "5d" });
      },
    },
    "record-payment": {
      on: "stripe/paid",
      options: { idempotency: "event.data.paymentId" },
      run: () => ({ recorded: true }),
    },
    broken: {
      on: "shop/broken",
      options: { retries: 0 },
      run: () => {
        throw new Error("The warehouse is closed");
      },
    },
  });
  const place = async (placementId: number, eventType: string) => {
    await made.send({
      name: "bullhorn/placement",
      id: `${eventType}-${placementId}`,
      data: { placementId, eventType },
    });
    await made.advance(400);
  };
  /** The story itself, or what it may be of. */
  const ask = async (query: Record<string, string>) => {
    const { body } = await made.ask(explainSubject, { query });
    return body.kind === "story" ? body.story : body;
  };
  return { ...made, place, story: ask };
};

const sentences = (story: any): string[] => story.facts.map(({ text }: { text: string }) => text);

describe.each(everyStore)("over %s", (store) => {
  test("the word null is looked for like any other: runs without anything that tells them apart are not about it", async () => {
    const { send, story } = await shop(store);
    await send({ name: "shop/broken", data: {} });
    expect(await story({ q: "null" })).toMatchObject({ kind: "none" });
  });

  test("a placement that ran twice is told as one story: the cause, four gates, both runs, three things to do", async () => {
    const { place, story, send } = await shop(store);
    for (const id of [48_213, 48_214, 48_215]) {
      await place(id, "INSERTED");
      await place(id, "UPDATED");
    }
    await send({ name: "other/thing", data: {} });
    const told = await story({ q: "48213" });
    expect(told).toMatchObject({
      kind: "story",
      tone: "doubled",
      times: 2,
      title: "Placement 48213 ran twice because nothing marked its two events as the same",
    });
    expect(told.detail).toContain("They had different ids, and the function has no key");
    expect(told.gates.map(({ gate, state }: any) => [gate, state])).toEqual([
      ["webhook", "not-in-use"],
      ["event-id", "let-through"],
      ["function-key", "let-through"],
      ["destination-key", "let-through"],
    ]);
    expect(sentences(told)).toEqual([
      "Event INSERTED-48213 arrived: bullhorn/placement.",
      "It started run 1 of draft-invoice. No key was claimed.",
      "Run 1 finished step create-draft and made in_INSERTED.",
      "Event UPDATED-48213 arrived: bullhorn/placement. Its eventType was UPDATED, not INSERTED.",
      "It started run 2, 0.4 s after run 1. This is the duplicate that slipped through.",
      "Run 2 finished step create-draft and made in_UPDATED.",
      "Both runs wait in step wait-for-approval.",
    ]);
    expect(told.todo.map(({ does }: any) => does)).toEqual(["cancel-run", "add-key", "send-key"]);
    expect(told.todo[1].other).toBe('idempotency: "event.data.placementId",');
    const run2 = told.things.find(({ name }: any) => name === "Run 2");
    expect(told.todo[0].id).toBe(run2.id);
    expect(told.nouns).toContainEqual({ text: "run 2", kind: "run", id: run2.id, scope: null });
    // The same story by either run, or by either event.
    expect((await story({ q: run2.id })).title).toBe(told.title);
    expect((await story({ q: "UPDATED-48213" })).title).toBe(told.title);
  });

  test("a key that stopped duplicates says how many, and repeats are told once", async () => {
    const { send, story, idle } = await shop(store);
    for (let i = 0; i < 4; i++) {
      await send({ name: "stripe/paid", data: { paymentId: "pi_1", i } });
      await idle();
    }
    const told = await story({ q: "pi_1" });
    expect(told).toMatchObject({ tone: "suppressed", times: 1 });
    expect(told.title).toBe("Payment pi_1 ran once because its key was taken: three duplicates were stopped");
    expect(told.gates[2]).toMatchObject({ state: "stopped" });
    expect(sentences(told).filter((text) => /asked again/.test(text))).toEqual([
      expect.stringMatching(
        /and those after it asked again 3 times: its key was taken, run 1 answered for it\. Three of them differed in data\.i\.$/,
      ),
    ]);
    expect(told.todo).toEqual([]);
    // The future comes last.
    expect(told.facts.at(-1)).toMatchObject({
      at: told.facts[0].at + 86_400_000,
      text: "The window of key pi_1 ends. Until then it is taken.",
    });
  });

  test("an event whose id came again, one that failed and one nobody waits for each have their because", async () => {
    const { send, story, idle } = await shop(store);
    await send({ name: "stripe/paid", id: "evt_7", data: { paymentId: "pi_7" } });
    const again = await send({ name: "stripe/paid", id: "evt_7", data: { paymentId: "pi_7" } });
    await send({ name: "shop/broken", id: "evt_8", data: {} });
    await send({ name: "nobody/cares", id: "evt_9", data: {} });
    await idle();
    expect((await story({ q: again.eventId })).title).toBe("Event evt_7 started nothing because its id was taken");
    expect(await story({ q: "evt_8" })).toMatchObject({
      tone: "failed",
      title: "Event evt_8 ran and failed because the warehouse is closed",
      todo: [{ does: "open-run" }],
    });
    expect(await story({ q: "evt_9" })).toMatchObject({
      tone: "nothing",
      title: "Event evt_9 started nothing because no function has a trigger for its name",
    });
  });

  test("what several things are called is a list to choose from, and what nothing is called says how long things are kept", async () => {
    const { send, story, idle } = await shop(store);
    await send({ name: "stripe/paid", id: "note-77-a", data: { paymentId: "pay-77" } });
    await send({ name: "bullhorn/placement", id: "note-77-b", data: { placementId: "pay-77", eventType: "X" } });
    await idle();
    const several = await story({ q: "pay-77" });
    expect(several).toMatchObject({ kind: "several", hits: [{ as: "entity" }, { as: "key" }] });
    expect(several.sentence).toBe("pay-77 is a key of one function and in the data of one function without a key.");
    const { as, id, function: fn } = several.hits[1];
    expect(await story({ q: id, as, function: fn })).toMatchObject({ kind: "story", function: "shop-record-payment" });
    expect((await story({ q: "note-77" })).sentence).toBe("note-77 is part of two event ids.");
    const none = await story({ q: "no such thing" });
    expect(none.sentence).toMatch(/^Nothing has this id or key\./);
    expect(none.examples.length).toBeGreaterThan(0);
  });

  test("an event that came again is counted once, although its id and its key were both known", async () => {
    const { send, story, idle } = await shop(store);
    for (const id of ["e-1", "e-1", "e-2"]) await send({ name: "stripe/paid", id, data: { paymentId: "pi_3" } });
    await idle();
    const told = await story({ q: "pi_3" });
    expect(told.title).toBe("Payment pi_3 ran once because its key was taken: two duplicates were stopped");
    expect(told.gates.slice(1, 3).map(({ state }: any) => state)).toEqual(["stopped", "stopped"]);
  });

  test("a rerun is a person's wish and never counts as twice", async () => {
    const { send, story, idle, engine } = await shop(store);
    const { runId } = await send({ name: "stripe/paid", data: { paymentId: "pi_2" } });
    await idle();
    await engine.rerun(runId);
    await idle();
    const told = await story({ q: "pi_2" });
    expect(told).toMatchObject({ tone: "once", times: 1 });
    expect(sentences(told)).toContain("A person asked for run 2: it reruns run 1.");
  });
});
