import { expect, test } from "vitest";
import { groupOf, TryLimit, triesMax, waitMs } from "./try-limit.ts";

function limitAt() {
  const clock = { ms: 1_000 };
  return { clock, limit: new TryLimit({ monoMs: () => clock.ms }) };
}

const fail = (limit: TryLimit, address: string, times: number) =>
  Array.from({ length: times }, () => limit.begin(address));

test("five tries from an address, then a minute's wait that counts down, then five again", () => {
  const { clock, limit } = limitAt();
  expect(fail(limit, "10.0.0.9", triesMax)).toEqual([4, 3, 2, 1, 0].map((left) => ({ kind: "allowed", left })));
  expect(limit.begin("10.0.0.9")).toEqual({ kind: "limited", waitMs });
  clock.ms += 59_000;
  expect(limit.begin("10.0.0.9")).toEqual({ kind: "limited", waitMs: 1_000 });
  clock.ms += 1_000;
  expect(limit.begin("10.0.0.9")).toEqual({ kind: "allowed", left: 4 });
});

test("another address has tries of its own", () => {
  const { limit } = limitAt();
  fail(limit, "10.0.0.9", triesMax);
  expect(limit.begin("10.0.0.10")).toEqual({ kind: "allowed", left: 4 });
});

test("a right password forgives what was wrong before it", () => {
  const { limit } = limitAt();
  fail(limit, "10.0.0.9", triesMax - 1);
  limit.begin("10.0.0.9");
  limit.succeeded("10.0.0.9");
  expect(limit.begin("10.0.0.9")).toEqual({ kind: "allowed", left: 4 });
});

test("guessing from many addresses is bounded as a whole, and does not lock out who was here before", () => {
  const { limit } = limitAt();
  limit.begin("192.168.1.7");
  limit.succeeded("192.168.1.7");
  const answers = Array.from({ length: 60 }, (_, i) => limit.begin(`10.0.${i}.1`).kind);
  expect(answers.filter((kind) => kind === "allowed")).toHaveLength(50);
  expect(limit.begin("10.9.9.9").kind).toBe("limited");
  expect(limit.begin("192.168.1.7").kind).toBe("allowed");
});

test("a browser that was here before has tries of its own, whatever is guessed from its address and from everywhere", () => {
  const { clock, limit } = limitAt();
  for (let minute = 0; minute < 3; minute++, clock.ms += waitMs) {
    fail(limit, "10.0.0.1", triesMax);
    for (let i = 0; i < 60; i++) limit.begin(`10.1.${i}.1`);
    expect(limit.begin("10.0.0.1").kind).toBe("limited");
    expect(limit.begin("10.0.0.1", "b1")).toEqual({ kind: "allowed", left: 4 });
    limit.succeeded("10.0.0.1", "b1");
  }
  // Its own guesses are counted like anybody's.
  for (let i = 0; i < triesMax; i++) limit.begin("10.0.0.1", "b1");
  expect(limit.begin("10.0.0.1", "b1").kind).toBe("limited");
  expect(limit.begin("10.0.0.1", "b2").kind).toBe("allowed");
});

test("whoever has a whole IPv6 network counts as one, and IPv4 is the same in both its spellings", () => {
  expect(groupOf("2001:db8:0:1::1")).toBe(groupOf("2001:0DB8:0000:0001:ffff::2"));
  expect(groupOf("2001:db8:0:1::1")).not.toBe(groupOf("2001:db8:0:2::1"));
  expect(groupOf("::1")).toBe("0:0:0:0");
  expect(groupOf("fe80::1%eth0")).toBe("fe80:0:0:0");
  expect(groupOf("::ffff:10.0.0.9")).toBe("10.0.0.9");
});
