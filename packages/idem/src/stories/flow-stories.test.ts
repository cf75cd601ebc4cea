// Every outcome of flow control, in the words of its story.
import { describe, expect, test } from "vitest";
import type { EventStory, RunStory } from "../sdk/explain-api.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("explain on %s", (store) => {
  async function world(options: Partial<FunctionOptions>, handler: (context: any) => unknown = async () => null) {
    const made = testIdem({ store });
    const { idem } = made;
    idem.createFunction({ id: "fn", ...options }, { event: "a/b" }, handler);
    await idem.start();
    const send = async (data: Record<string, unknown> = {}) => (await idem.send({ name: "a/b", data })).decisions[0]!;
    const event = async (id: string) => (await idem.explain(id)) as EventStory;
    const run = async (id: string) => (await idem.explain(id)) as RunStory;
    const ahead = (text: string, ms: number) => `${new Date(made.clock.now() + ms).toISOString()}  ${text}`;
    const at = (ms: number) => new Date(made.clock.now() + ms).toISOString();
    return { ...made, send, event, run, at, ahead };
  }

  test("a debounced event says when its run starts, a superseded one by which event and which run answers", async () => {
    const { send, event, run, clock, ahead } = await world({ debounce: { period: "10s" } });
    const first = await send();
    await clock.advance("4s");
    const last = await send();
    const startsAt = clock.now() + 10_000;
    const story = await event(last.eventId);
    expect(story.pending).toEqual([
      { function: "fn", buffer: { count: 2, max: null, startsAt, newestEventId: last.eventId } },
    ]);
    expect(story.summary[0]).toBe(
      `Event ${last.eventId} has not started anything yet because fn waits until no other event comes.`,
    );
    expect(story.summary.slice(-2)).toEqual([
      "now  Two events came so far.",
      ahead("A run of fn starts for it, unless another event comes.", 10_000),
    ]);
    expect((await event(first.eventId)).summary).toContain(
      `now  It was superseded by event ${last.eventId}; two events came so far.`,
    );
    await clock.advance("10s");
    const { decisions, pending } = await event(last.eventId);
    const { runId } = decisions[0]!;
    expect([decisions[0]!.kind, pending]).toEqual(["started", []]);
    const superseded = await event(first.eventId);
    expect(superseded.decisions).toMatchObject([{ kind: "debounced", runId }]);
    expect(superseded.summary[0]).toBe(`Event ${first.eventId} started nothing because a later event took its place.`);
    expect(superseded.story.facts.map(({ text }) => text)).toContain(
      `Event ${first.eventId} was left out: a later one took its place, run 1 answered for it.`,
    );
    expect((await run(runId!)).spared).toMatchObject([{ kind: "debounced", eventId: first.eventId }]);
  });

  test("a batched event says how many are in and until when; a batch's run names all its events", async () => {
    const { send, event, run, clock, ahead, idem } = await world({
      idempotency: "event.data.n",
      batchEvents: { maxSize: 9, timeout: "1m", key: "event.data.of" },
    });
    const first = await send({ n: 1, of: "a" });
    await send({ n: 9, of: "b" });
    const again = await send({ n: 1, of: "a" });
    const last = await send({ n: 2, of: "a" });
    const story = await event(first.eventId);
    expect(story.pending).toMatchObject([{ function: "fn", buffer: { count: 3, max: 9, newestEventId: null } }]);
    expect(story.summary.slice(-2)).toEqual([
      "now  Three events of 9 are in the batch.",
      ahead("A run of fn starts for them at the latest.", 60_000),
    ]);
    await clock.advance("1m");
    const { runId } = (await event(last.eventId)).decisions[0]!;
    const twice = await event(again.eventId);
    expect(twice.decisions).toMatchObject([{ kind: "duplicate-key", runId }]);
    const told = await run(runId!);
    expect(told.events.map(({ internalId }) => internalId)).toEqual([first.eventId, last.eventId]);
    expect(told.story.facts.map(({ text }) => text)).toContain(
      `Run 1 carries a batch of two events: ${first.eventId}, ${last.eventId}.`,
    );
    const detail = await idem.runs.get(runId!);
    expect(detail!.events.map(({ data }) => (data as { n: number }).n)).toEqual([1, 2]);
  });

  test("a rate-limited event names the limit and when it frees", async () => {
    const { send, event, at } = await world({ rateLimit: { limit: 1, period: "1h" } });
    await send();
    const { eventId, kind } = await send();
    expect(kind).toBe("rate-limited");
    const { title, facts } = (await event(eventId)).story;
    expect(title).toBe(`Event ${eventId} started nothing because the rate limit was used up`);
    const told = facts.at(-1)!.text;
    expect(told).toMatch(/^fn was not started: its rate limit was used up \(at most 1 /);
    expect(told).toContain(`frees at ${at(3_600_000)}`);
  });

  test("a skipped singleton names the run that is open, a cancelled one the run it made room for", async () => {
    const skipping = await world({ singleton: { mode: "skip" } }, ({ step }) => step.sleep("long", "1d"));
    const { runId } = await skipping.send();
    const { eventId } = await skipping.send();
    const skipped = (await skipping.event(eventId)).story;
    expect(skipped.title).toBe(`Event ${eventId} started nothing because one run at a time is allowed`);
    expect(skipped.things).toContainEqual(expect.objectContaining({ name: "Run 1", id: runId }));
    const cancelling = await world({ singleton: { mode: "cancel" } }, ({ step }) => step.sleep("long", "1d"));
    const first = await cancelling.send();
    const second = await cancelling.send();
    const { summary, run } = await cancelling.run(first.runId!);
    expect(run.state).toBe("cancelled");
    expect(summary).toContainEqual(
      expect.stringContaining(
        `Run 1 was cancelled by run ${second.runId}, a newer one of the singleton function "fn".`,
      ),
    );
  });

  test("an open run names the events that would cancel it, a cancelled one the event that did", async () => {
    const { send, run, idem } = await world(
      { cancelOn: [{ event: "a/stop", match: "data.of", timeout: "1h" }] },
      ({ step }) => step.sleep("long", "1d"),
    );
    const { runId } = await send({ of: 7 });
    await idem.idle();
    const open = await run(runId!);
    expect(open.cancelOn).toMatchObject([{ event: "a/stop", until: open.run.createdAt + 3_600_000 }]);
    expect(open.summary.join("\n")).toMatch(/Event a\/stop would cancel run 1 where .*, within 1 h of its start\./);
    expect((await idem.runs.get(runId!))!.cancelOn).toEqual(open.cancelOn);
    const { ids } = await idem.send({ name: "a/stop", data: { of: 7 } });
    await idem.idle();
    const ended = await run(runId!);
    expect(ended.cancelOn).toEqual([]);
    expect(ended.story.title).toMatch(new RegExp(`was cancelled because of event ${ids[0]} \\(a/stop\\)$`));
  });

  test("a run in line names the slot it waits for, how many hold it and how many wait; then how long it stood", async () => {
    const hold = held();
    const { send, run, idem, clock } = await world(
      { concurrency: [{ limit: 2, key: "event.data.of" }, { limit: 9 }] },
      ({ step }) => step.run("work", () => hold.promise),
    );
    for (let i = 0; i < 2; i++) await send({ of: "a" });
    const { runId } = await send({ of: "a" });
    await send({ of: "a" });
    await clock.tick("3s");
    const waiting = await run(runId!);
    expect(waiting.line).toMatchObject([
      { kind: "concurrency", limit: 2, key: '"a"', scope: "fn", used: 2, waiting: 2 },
      { kind: "concurrency", limit: 9, key: null, used: 2 },
    ]);
    expect(waiting.summary).toContain(
      "now  Run 1 stands in line for a slot of key a: 2 of 2 are in use, and two runs wait for it.",
    );
    expect((await idem.runs.get(runId!))!.line).toEqual(waiting.line);
    expect(waiting.story.title).toMatch(/ is queued because it stands in line$/);
    hold.release();
    await clock.tick("1s");
    const done = await run(runId!);
    expect([done.line, done.run.state]).toEqual([[], "completed"]);
    expect(done.summary.join("\n")).toMatch(/Run 1 began \d+(\.\d+)? s after it was opened\./);
  });

  test("a run that its throttle puts off says so", async () => {
    const { send, run, idem } = await world({ throttle: { limit: 1, period: "1h", key: "event.data.of" } });
    await send({ of: 1 });
    const { runId } = await send({ of: 1 });
    await idem.idle();
    const { line, summary } = await run(runId!);
    expect(line).toEqual([
      {
        kind: "throttle",
        limit: 1,
        periodMs: 3_600_000,
        key: "1",
        scope: "fn",
        temporary: null,
        used: null,
        waiting: 1,
      },
    ]);
    expect(summary).toContain(
      "now  Run 1 stands in line for its throttle of key 1: one start in 1 h, and one run waits for it.",
    );
  });

  test("a run that has room and nobody to take it up says that", async () => {
    const made = testIdem({ store });
    made.idem.createFunction({ id: "fn", concurrency: 1 }, { event: "a/b" }, async () => null);
    const { runId } = (await made.idem.send({ name: "a/b" })).decisions[0]!;
    expect((await made.idem.explain(runId!)).summary).toContain(
      "now  Run 1 is due, its limits have room, and no worker has taken it up yet.",
    );
  });

  test("a paused event waits for a person, and a dropped one says who let go of it", async () => {
    const { send, event, idem } = await world({});
    await idem.functions.pause("fn");
    const { eventId } = await send();
    const paused = await event(eventId);
    expect(paused.pending).toEqual([{ function: "fn", buffer: null }]);
    expect(paused.story).toMatchObject({
      tone: "waiting",
      title: `Event ${eventId} started nothing because the function was paused`,
      detail: "It is kept until a person releases or drops it.",
      todo: [{ does: "open-event" }, { does: "open-function" }],
    });
    await idem.events.drop(eventId, { reason: "sent by mistake" });
    const dropped = await event(eventId);
    expect(dropped.pending).toEqual([]);
    expect(dropped.story.title).toBe(`Event ${eventId} started nothing because a person dropped it`);
    expect(dropped.story.facts.at(-1)!.text).toBe("fn was not started: dropped by hand: sent by mistake.");
  });

  test("a held event waits for a person", async () => {
    const { send, event } = await world({ idempotency: { key: "event.data.nope", onMissing: "reject" } });
    const { eventId } = await send();
    const story = await event(eventId);
    expect(story.pending).toEqual([{ function: "fn", buffer: null }]);
    expect(story.story.facts.at(-1)!.text).toMatch(/^fn was not started: held, until a person releases or drops it \(/);
  });
});

test("a cron's run names its tick, and a tick that was missed says why it started none", async () => {
  const { idem, client, clock } = testIdem();
  const define = (of: typeof idem) =>
    of.createFunction({ id: "hourly" }, { cron: "0 * * * *", missed: "last" }, async () => null);
  define(idem);
  await idem.start();
  await clock.advance("61m");
  const [first] = await idem.runs.list();
  const { story } = await idem.explain(first!.id);
  expect(story.title).toMatch(/ ran once because its schedule ticked$/);
  expect(story.facts[0]!.text).toMatch(/^Schedule "0 \* \* \* \*" ticked: \d{4}-\d\d-\d\dT\d\d:00:00Z\.$/);
  await idem.stop();
  await clock.advance("3h30m");
  const later = client();
  define(later);
  await later.start();
  await clock.advance("1s");
  const events = await later.events.list();
  const stories = await Promise.all(events.map(({ internalId }) => later.explain(internalId) as Promise<EventStory>));
  const missed = stories.filter(({ decisions }) => decisions[0]!.kind === "missed");
  expect(missed).toHaveLength(2);
  for (const { story } of missed) {
    expect(story.title).toMatch(/ started nothing because its tick was found too late$/);
    expect(story.facts.at(-1)!.text).toMatch(/^hourly was not started: tick .* was missed: found .* late/);
  }
});
