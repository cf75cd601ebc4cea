import { expect, test } from "vitest";
import { compareThings, learnVolatile } from "./compare-things.ts";
import type { Json, Thing } from "./thing.ts";

const thing = (path: string, state: Json, of: Partial<Thing> = {}): Thing => ({
  watcher: "http",
  destination: "api.example",
  path: path.split("/"),
  isAddressed: false,
  state,
  by: null,
  effect: 1,
  made: [],
  ...of,
});
const outside = (...things: Thing[]) => ({ things, madeIds: [] as string[] });
const put = { isAddressed: true };
const nothingMoves = learnVolatile(outside(), outside())!;

test("a field that differs between two clean runs is not compared, and any other is", () => {
  const one = outside(thing("invoices", { amount: 5, at: "09:00" }));
  const volatile = learnVolatile(one, outside(thing("invoices", { amount: 5, at: "16:41" })))!;
  expect(compareThings(outside(thing("invoices", { amount: 5, at: "23:00" })), [one], volatile)).toEqual({
    more: [],
    other: [],
    less: [],
  });
  const changed = thing("invoices", { amount: 6, at: "09:00" });
  expect(compareThings(outside(changed), [one], volatile)).toEqual({ more: [changed], other: [], less: one.things });
});

test("two clean runs that make other things teach nothing", () => {
  expect(learnVolatile(outside(thing("invoices", {})), outside())).toBeNull();
  expect(learnVolatile(outside(thing("invoices", {})), outside(thing("mails", {})))).toBeNull();
});

test("what is made twice is more by one, and what is not made is less", () => {
  const made = thing("invoices", { placement: "7" });
  const two = compareThings(outside(made, made), [outside(made)], nothingMoves);
  expect([two.more.length, two.less.length]).toEqual([1, 0]);
  const none = compareThings(outside(), [outside(made)], nothingMoves);
  expect([none.more.length, none.less.length]).toEqual([0, 1]);
});

test("an event and its twin may each make one of the same", () => {
  const made = thing("mails", { template: "welcome" });
  const { more, less } = compareThings(outside(made, made), [outside(made), outside(made)], nothingMoves);
  expect([more, less]).toEqual([[], []]);
});

test("one thing in another state is other, though their number is the same", () => {
  const before = thing("placements/7", { state: "sent" }, put);
  const after = thing("placements/7", { state: "draft" }, put);
  expect(compareThings(outside(after), [outside(before)], nothingMoves)).toEqual({
    more: [],
    other: [after],
    less: [],
  });
});

test("things under paths that are other ones each time are counted, and not taken for one", () => {
  const one = outside(thing("payments/1", { placement: "7" }, put));
  const volatile = learnVolatile(one, outside(thing("payments/2", { placement: "7" }, put)))!;
  const twice = outside(thing("payments/3", { placement: "7" }, put), thing("payments/4", { placement: "7" }, put));
  expect(compareThings(twice, [one], volatile).more).toHaveLength(1);
});

test("ids that a destination made up are no difference, wherever they are told again", () => {
  const one = { things: [thing("approvals", { invoice: "in_1" })], madeIds: ["in_1"] };
  const other = { things: [thing("approvals", { invoice: "in_2" })], madeIds: ["in_2"] };
  expect(compareThings(other, [one], nothingMoves)).toEqual({ more: [], other: [], less: [] });
});
