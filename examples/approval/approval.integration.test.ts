// The acts of the story, through the functions that play them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { twoEvents } from "./act-1-two-events.mjs";
import { threePeople } from "./act-2-three-people.mjs";
import { sentOnce } from "./act-3-sent-once.mjs";
import { openAgency } from "./agency.mjs";

interface Line {
  readonly what: string;
  readonly expected: number;
  readonly seen: number;
}

const folder = mkdtempSync(join(tmpdir(), "idem-approval-test-"));
let agency: Awaited<ReturnType<typeof openAgency>>;
beforeAll(async () => {
  agency = await openAgency(folder);
  await agency.switchOn();
});
afterAll(async () => {
  await agency?.close();
  rmSync(folder, { recursive: true, force: true });
});

const expectRight = (lines: readonly Line[]) =>
  expect(lines.map(({ what, seen }) => [what, seen])).toEqual(lines.map(({ what, expected }) => [what, expected]));

test("INSERTED and UPDATED of one placement are one draft and one entry in the queue", async () => {
  const { lines, reason } = await twoEvents(agency);
  expectRight(lines);
  expect(reason).toMatch(/^key \d+ is taken by run /);
});

test("an entry is decided by one click of three people's double clicks, and the others are told by whom", async () => {
  const { lines, approved, rejected, example } = await threePeople(agency);
  expectRight(lines);
  expect(approved + rejected).toBe(12);
  expect(example).toMatchObject({ moved: false, decidedBy: expect.stringMatching(/^(Anna|Ben|Carla)$/) });
});

test("what was decided while the engine was off is sent or voided once, and nothing late changes it", async () => {
  expectRight((await sentOnce(agency)).lines);
});
