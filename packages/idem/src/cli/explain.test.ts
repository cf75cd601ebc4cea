// idem explain: the same story as everywhere, laid out for a terminal.

import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { inside } from "../sdk/inside.ts";
import type { Story } from "../stories/story.ts";
import { storeWorld } from "./store-world.ts";

/** A placement that was drafted twice, and a payment whose key stopped three; another still has the file open. */
async function shop(options: { readonly columns?: number } = {}) {
  const world = storeWorld(options);
  const { idem } = world;
  idem.createFunction({ id: "draft-invoice" }, { event: "bullhorn/placement" }, async ({ step, event }) => {
    await step.run("create-draft", () => ({ id: `in_${event.data.eventType}` }));
    await step.waitForEvent("wait-for-approval", { event: "approved", timeout: "5d" });
  });
  idem.createFunction(
    { id: "record-payment", idempotency: "event.data.paymentId" },
    { event: "stripe/paid" },
    async () => ({ recorded: true }),
  );
  const dashboard = idem.dashboard({ authorize: () => "operator" });
  await idem.start();
  onTestFinished(() => idem.stop());
  for (const placementId of [48_213, 48_214]) {
    for (const eventType of ["INSERTED", "UPDATED"]) {
      await idem.send({
        name: "bullhorn/placement",
        id: `${eventType}-${placementId}`,
        data: { placementId, eventType },
      });
      await world.advance(400);
    }
  }
  for (let i = 0; i < 4; i++) {
    await idem.send({ name: "stripe/paid", data: { paymentId: "pi_\x1b[31m1" } });
    await world.advance(1_000);
  }
  await idem.idle();
  const api = async (q: string): Promise<Story> => {
    const answer = await dashboard(new Request(`http://localhost/idem/api/explain?${new URLSearchParams({ q })}`));
    return ((await answer.json()) as { story: Story }).story;
  };
  return { ...world, api };
}

const sentencesOf = ({ title, detail, gates, facts, todo }: Story): string[] => [
  `${title}.`,
  detail,
  ...gates.map(({ reason }) => reason),
  ...facts.map(({ text }) => text),
  ...todo.map(({ text }) => text),
];

describe("one voice", () => {
  test("the command line, the client and the API tell the same story in the same words", async () => {
    const { terminal, idem, api } = await shop();
    for (const q of ["48213", "UPDATED-48213"]) {
      const told = await api(q);
      expect(told.kind).toBe("story");
      expect(await idem[inside].tell({ q })).toEqual(told);
      expect(await terminal.run("explain", q)).toBe(0);
      const { out } = terminal.written;
      let from = 0;
      for (const sentence of sentencesOf(told)) {
        expect(out.slice(from)).toContain(sentence);
        from = out.indexOf(sentence, from) + sentence.length;
      }
    }
    const second = (await api("48213")).things.find(({ name }) => name === "Run 2")!.id;
    const { story, summary } = await idem.explain(second);
    expect(story).toEqual(await api(second));
    expect(await terminal.json("explain", second)).toMatchObject({ kind: "run", run: { id: second }, story, summary });
    for (const sentence of sentencesOf(story)) expect(summary.join("\n")).toContain(sentence);
  });
});

describe("on a terminal", () => {
  test("the verdict comes first, then four gates, the times in one column, the ids, and what to do with its command", async () => {
    const { terminal, api } = await shop();
    await expect.poll(async () => sentencesOf(await api("48213"))).toContain("The radar raised an alert.");
    const runs = (await api("48213")).things.filter(({ kind }) => kind === "run").map(({ id }) => id);
    expect(await terminal.run("explain", "48213")).toBe(0);
    const { out } = terminal.written;
    expect(out).not.toContain("\x1b");
    expect(out.split("\n")).toEqual([
      "Placement 48213 ran twice because nothing marked its two events as the same.",
      "Two events came for one placement. They had different ids, and the function has no key, so each started its own run, 0.4 s apart.",
      "",
      "· Webhook          not in use      No webhook: the event was sent by code.",
      "◆ Event id         let it through  Two ids, so two events.",
      "◆ Function key     let it through  The function has no key.",
      "◆ Destination key  let it through  Step create-draft was handed another key in each run. What it sent is not known.",
      "",
      "What happened on 2026-01-01, UTC",
      "00:00:00.000  · Event INSERTED-48213 arrived: bullhorn/placement.",
      "00:00:00.000  ■ It started run 1 of draft-invoice. No key was claimed.",
      "00:00:00.000  · Run 1 finished step create-draft and made in_INSERTED.",
      "00:00:00.400  · Event UPDATED-48213 arrived: bullhorn/placement. Its eventType was UPDATED, not INSERTED.",
      "00:00:00.400  ◆ It started run 2, 0.4 s after run 1. This is the duplicate that slipped through.",
      "00:00:00.400  · Run 2 finished step create-draft and made in_UPDATED.",
      "00:00:00.400  · The radar raised an alert.",
      "now           · Both runs wait in step wait-for-approval.",
      "",
      "In this story",
      `Run 1                 ${runs[0]}  waiting`,
      `Run 2                 ${runs[1]}  waiting  slipped through`,
      expect.stringMatching(/^Event INSERTED-48213 {2}\w{26} {2}started run 1$/),
      expect.stringMatching(/^Event UPDATED-48213 {3}\w{26} {2}started run 2$/),
      "",
      "What to do now",
      "1. Cancel run 2 before it does more.",
      `     idem cancel ${runs[1]}`,
      "2. Give the function a key, so that it cannot happen again.",
      '     idempotency: "event.data.placementId",',
      "3. Send others the step's key, as a second guard.",
      "     step.run(id, ({ key }) => …)",
      "",
    ]);
  });

  test("repeats are one line, days are told where there are several, and no escape sequence of a key gets through", async () => {
    const { terminal } = await shop();
    expect(await terminal.run("explain", "--function", "record-payment", "--key", "pi_\x1b[31m1")).toBe(0);
    const { out } = terminal.written;
    expect(out).not.toContain("\x1b");
    expect(out).toMatch(
      /^Payment pi_\\x1b\[31m1 ran once because its key was taken: three duplicates were stopped\.$/m,
    );
    expect(out.match(/asked again/g)).toHaveLength(1);
    expect(out).toMatch(
      /^2026-01-01 00:00:02\.600 {2}○ Event \w+ and those after it asked again 3 times: .* The last time at 2026-01-01 00:00:04\.600\.$/m,
    );
    expect(out).toMatch(/^2026-01-02 00:00:01\.600 {2}· The window of key .* ends\. Until then it is taken\.$/m);
  });

  test("on a narrow screen sentences are folded under themselves, and what is to be copied stays whole", async () => {
    const { terminal } = await shop({ columns: 80 });
    expect(await terminal.run("explain", "48213")).toBe(0);
    const lines = stripVTControlCharacters(terminal.written.out).trimEnd().split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const place = lines.findIndex((line) => line.startsWith("00:00:00.400  · Event UPDATED-48213"));
    expect(lines[place + 1]).toMatch(/^ {16}\S/);
    expect(lines).toContain('     idempotency: "event.data.placementId",');
  });

  test("a word that several things have is answered with a command for each, one that nothing has with 1", async () => {
    const { terminal, idem } = await shop();
    await idem.send({ name: "stripe/paid", data: { paymentId: 48_213 } });
    await idem.idle();
    expect(await terminal.run("explain", "48213")).toBe(0);
    expect(terminal.written.out.split("\n")).toEqual([
      "48213 is a key of one function, in the data of one function without a key and part of two event ids.",
      expect.stringMatching(/^ {2}idem explain 48213 --function draft-invoice +placementId in runs of draft-invoice/),
      expect.stringMatching(/^ {2}idem explain --function record-payment --key 48213 +Key of record-payment$/),
      expect.stringMatching(/^ {2}idem explain \w{26} +Event (INSERTED|UPDATED)-48213, bullhorn\/placement$/),
      expect.stringMatching(/^ {2}idem explain \w{26} +Event (INSERTED|UPDATED)-48213, bullhorn\/placement$/),
      "",
    ]);
    expect(await terminal.json("explain", "48213")).toMatchObject({ kind: "several" });
    expect(await terminal.json("explain", "48213", "--function", "record-payment")).toMatchObject({
      kind: "key",
      key: "48213",
      story: { title: "Payment 48213 ran once because one event asked for it" },
    });
    expect(await terminal.json("explain", "48213", "--function", "draft-invoice")).toMatchObject({ kind: "run" });
    expect(await terminal.run("explain", "nothing at all")).toBe(1);
  });
});
