import { expect, test } from "vitest";
import type { Role } from "./actor.ts";
import { groupOf, TryLimit, triesMax, waitMs } from "./try-limit.ts";

const both = ["operator", "viewer"] as const;

function limitAt() {
  const clock = { ms: 1_000 };
  const limit = new TryLimit({ monoMs: () => clock.ms });
  const guess = (address: string, browser: { id: string; role: Role } | null = null) => {
    const { roles, left, waitMs: wait } = limit.begin(address, browser, both);
    return roles.length === 0 ? { waitMs: wait } : { roles, left };
  };
  const signIn = (address: string, role: Role, browser: { id: string; role: Role } | null = null) => {
    const attempt = limit.begin(address, browser, both);
    if (attempt.roles.includes(role)) attempt.succeeded(role);
    return attempt.roles.includes(role);
  };
  return { clock, limit, guess, signIn };
}

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

test("five tries from an address, then a minute's wait that counts down, then five again", () => {
  const { clock, guess } = limitAt();
  expect(times(triesMax, () => guess("10.0.0.9"))).toEqual([4, 3, 2, 1, 0].map((left) => ({ roles: both, left })));
  expect(guess("10.0.0.9")).toEqual({ waitMs });
  clock.ms += 59_000;
  expect(guess("10.0.0.9")).toEqual({ waitMs: 1_000 });
  clock.ms += 1_000;
  expect(guess("10.0.0.9")).toEqual({ roles: both, left: 4 });
});

test("another address has tries of its own", () => {
  const { guess } = limitAt();
  times(triesMax, () => guess("10.0.0.9"));
  expect(guess("10.0.0.10")).toEqual({ roles: both, left: 4 });
});

test("a right password forgives nothing that was wrong before it, of either role, and costs nothing itself", () => {
  for (const role of both) {
    const { guess, signIn } = limitAt();
    times(triesMax - 2, () => guess("10.0.0.9"));
    for (let i = 0; i < 100; i++) expect(signIn("10.0.0.9", role)).toBe(true);
    expect(guess("10.0.0.9")).toEqual({ roles: both, left: 1 });
    expect(signIn("10.0.0.9", role)).toBe(true);
    expect(guess("10.0.0.9")).toEqual({ roles: both, left: 0 });
    expect(signIn("10.0.0.9", role)).toBe(false);
  }
});

test("guessing from many addresses is bounded as a whole, and does not lock out who was here before", () => {
  const { guess, signIn } = limitAt();
  signIn("192.168.1.7", "operator");
  const answers = times(120, (i) => "left" in guess(`10.0.${i}.1`));
  expect(answers.filter((isAllowed) => isAllowed)).toHaveLength(50);
  expect(guess("10.9.9.9")).toEqual({ waitMs });
  expect(signIn("192.168.1.7", "operator")).toBe(true);
});

test("those who guess use up the bound for those who guess: an address nothing wrong came from gets in, for hours of it", () => {
  const { clock, guess, signIn } = limitAt();
  const guessing = times(20, (i) => `10.0.${i}.1`);
  for (const address of guessing) guess(address);
  for (let minute = 0; minute < 120; minute++) {
    clock.ms += waitMs;
    const allowed = times(200, (i) => "left" in guess(guessing[i % 20]!)).filter((isAllowed) => isAllowed);
    expect([minute, allowed.length]).toEqual([minute, 50]);
    expect(signIn(`192.168.${minute}.7`, "operator")).toBe(true);
  }
});

test("an address that got in as a viewer is a stranger to the bound on guesses at operators", () => {
  const { guess, signIn } = limitAt();
  signIn("192.168.1.7", "viewer");
  times(60, (i) => guess(`10.0.${i}.1`));
  expect(guess("192.168.1.7")).toEqual({ roles: ["viewer"], left: 4 });
});

test("a browser that was here before has tries of its own, whatever is guessed from its address and from everywhere", () => {
  const { clock, guess, signIn } = limitAt();
  const [b1, b2] = [
    { id: "b1", role: "operator" as const },
    { id: "b2", role: "operator" as const },
  ];
  for (let minute = 0; minute < 3; minute++, clock.ms += waitMs) {
    times(triesMax, () => guess("10.0.0.1"));
    times(120, (i) => guess(`10.1.${i}.1`));
    expect(guess("10.0.0.1")).toHaveProperty("waitMs");
    expect(signIn("10.0.0.1", "operator", b1)).toBe(true);
  }
  // Its own guesses are counted like anybody's.
  times(triesMax, () => guess("10.0.0.1", b1));
  expect(guess("10.0.0.1", b1)).toHaveProperty("waitMs");
  expect(guess("10.0.0.1", b2)).toEqual({ roles: both, left: 4 });
});

test("browsers that got in as a viewer guess at operators like any stranger of their address", () => {
  const { guess, signIn } = limitAt();
  const guesses = times(10, (i) => guess("10.0.0.1", { id: `b${i}`, role: "viewer" }));
  expect(guesses.map((each) => each.roles?.includes("operator"))).toEqual([
    ...times(5, () => true),
    ...times(5, () => false),
  ]);
  expect(signIn("10.0.0.1", "viewer", { id: "b11", role: "viewer" })).toBe(true);
  expect(signIn("10.0.0.1", "operator", { id: "b11", role: "viewer" })).toBe(false);
});

test("an address opens sixty sessions of a role in a minute and no more", () => {
  const { clock, limit } = limitAt();
  expect(times(61, () => limit.open("10.0.0.9", "viewer")).at(-1)).toBe(waitMs);
  expect([limit.open("10.0.0.9", "operator"), limit.open("10.0.0.8", "viewer")]).toEqual([0, 0]);
  clock.ms += waitMs;
  expect(limit.open("10.0.0.9", "viewer")).toBe(0);
});

test("whoever has a whole IPv6 network counts as one, and IPv4 is the same in both its spellings", () => {
  expect(groupOf("2001:db8:0:1::1")).toBe(groupOf("2001:0DB8:0000:0001:ffff::2"));
  expect(groupOf("2001:db8:0:1::1")).not.toBe(groupOf("2001:db8:0:2::1"));
  expect(groupOf("::1")).toBe("0:0:0:0");
  expect(groupOf("fe80::1%eth0")).toBe("fe80:0:0:0");
  expect(groupOf("::ffff:10.0.0.9")).toBe("10.0.0.9");
});
