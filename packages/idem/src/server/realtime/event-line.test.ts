import { expect, test } from "vitest";
import { EventLine, WholeEvents } from "./event-line.ts";

async function readAll(line: EventLine): Promise<string> {
  let text = "";
  for await (const piece of line) text += Buffer.from(piece).toString();
  return text;
}

test("what waits is delivered in order before the line ends, and counts as sent once the next piece is asked for", async () => {
  const line = new EventLine(() => {});
  const sent: number[] = [];
  line.began("0");
  line.frame(Buffer.from('{"n":1}'), "1", () => sent.push(1));
  line.event("event: x\ndata: 2\n\n", "2", () => sent.push(2));
  line.end(Buffer.from("event: last\n\n"));
  expect(sent).toEqual([]);
  expect(await readAll(line)).toBe(':\nid: 0\n\ndata: {"n":1}\nid: 1\n\nevent: x\ndata: 2\nid: 2\n\nevent: last\n\n');
  expect(sent).toEqual([1, 2]);
});

test("a stream of a run opens with a bare comment, as readers of the official SDK expect", async () => {
  const line = new EventLine(() => {}, true);
  line.began("0");
  line.event("event: x\ndata: 1\n\n", "1", () => {});
  line.end(null);
  expect(await readAll(line)).toBe(":\n\nevent: x\ndata: 1\nid: 1\n\n");
});

test("a subscriber that is dropped gives back what waited for it and is told why", async () => {
  let over = 0;
  const line = new EventLine(() => over++);
  let sent = 0;
  line.frame(Buffer.from("{}"), "1", () => sent++);
  await line.close("too slow");
  line.frame(Buffer.from("{}"), "2", () => sent++);
  expect([sent, over]).toEqual([2, 1]);
  expect(await readAll(line)).toBe('data: {"kind":"closing","data":{"reason":"too slow"}}\n\n');
});

test("a reader that took no ping by the next one is not there any more", async () => {
  const line = new EventLine(() => {});
  expect([line.ping(), line.ping()]).toEqual([true, false]);
});

test("events are passed on whole and one by one, however they were cut", () => {
  const events = new WholeEvents();
  const out = ["event: a\nda", "ta: 1\n", "\n\nevent: b\n\nev", "ent: c"].map((part) => events.take(Buffer.from(part)));
  expect(out).toEqual([[], [], ["event: a\ndata: 1\n\n", "event: b\n\n"], []]);
  expect(() => events.take(Buffer.alloc(600 * 1024, "x"))).toThrow(/REQUEST_INVALID/);
});
