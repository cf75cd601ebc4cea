import { expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Beat } from "../store/sharing.ts";
import { LeaseNames } from "./lease-names.ts";
import { StoreTime } from "./store-time.ts";
import { Upkeep } from "./upkeep.ts";

test("a name that is no longer trusted is given up at once, and a late heartbeat does not make it whole again", async () => {
  const platform = new ManualPlatform();
  const handedBack: string[] = [];
  const givenUp: string[] = [];
  let answer: () => void = () => {};
  let isLate = false;
  let ids = 0;
  const names = new LeaseNames({
    store: {
      heartbeat: async () => {
        if (isLate) {
          isLate = false;
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        }
        return { alive: true, now: platform.wallMs() };
      },
      handBack: async (name) => {
        handedBack.push(name);
        return { count: 1 };
      },
    },
    platform,
    time: new StoreTime(platform),
    newId: () => `name-${++ids}`,
    leaseTermMs: 20_000,
    othersTakeOver: false,
    isUsed: () => true,
    giveUp: (name) => givenUp.push(name),
    onFreed: () => {},
    report: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });
  await names.beat();
  expect(names.mayBegin("name-1")).toBe(true);
  platform.clock.advance(10_000);
  isLate = true;
  const late = names.beat();
  platform.clock.advance(6_000);
  expect(names.mayBegin("name-1")).toBe(false);
  answer();
  await late;
  expect(givenUp).toEqual(["name-1"]);
  expect(handedBack).toEqual(["name-1"]);
  expect(names.holds("name-1")).toBe(false);
  expect(names.mayBegin("name-1")).toBe(false);
  expect(names.current).toBe("name-2");
});

test("a heartbeat that fails is retried each second while its lease is trusted, not at the next period", async () => {
  const platform = new ManualPlatform();
  const askedAt: number[] = [];
  const givenUp: string[] = [];
  let failures = 0;
  const store = {
    heartbeat: async () => {
      askedAt.push(platform.monoMs());
      if (failures-- > 0) throw errors.STORE_UNAVAILABLE({ why: "the server is starting up" });
      return { alive: true, now: platform.wallMs() };
    },
    handBack: async () => ({ count: 0 }),
    sweep: async () => ({ rescued: 0, reaped: 0, queued: false, isCounted: true }) as never,
    shared: null,
  };
  const names = new LeaseNames({
    store,
    platform,
    time: new StoreTime(platform),
    newId: () => "name",
    leaseTermMs: 20_000,
    othersTakeOver: true,
    isUsed: () => true,
    giveUp: (name) => givenUp.push(name),
    onFreed: () => {},
    report: () => {},
  });
  const upkeep = new Upkeep({
    store,
    platform,
    names,
    random: () => 0.5,
    leaseTermMs: 20_000,
    poke: () => {},
    onRescued: () => {},
    report: () => {},
  });
  await names.beat();
  upkeep.start();
  failures = 3;
  for (let second = 0; second < 14; second++) {
    await platform.advance(1_000, () => new Promise((resolve) => platform.soon(resolve)));
  }
  upkeep.stop();
  expect(askedAt.map((at) => Math.round(at / 1_000))).toEqual([0, 5, 6, 7, 8, 13]);
  expect(givenUp).toEqual([]);
});

/** Names over a store that always answers, beside a thread that is played by the test. */
function besideThread() {
  const platform = new ManualPlatform();
  const asked: string[] = [];
  const handedBack: string[] = [];
  const givenUp: string[] = [];
  const board = new Map<string, Beat>();
  let ids = 0;
  const names = new LeaseNames({
    store: {
      heartbeat: async (name) => {
        asked.push(name);
        return { alive: true, now: platform.wallMs() };
      },
      handBack: async (name) => {
        handedBack.push(name);
        return { count: 1 };
      },
    },
    platform,
    time: new StoreTime(platform),
    newId: () => `name-${++ids}`,
    leaseTermMs: 20_000,
    othersTakeOver: true,
    isUsed: () => true,
    giveUp: (name) => givenUp.push(name),
    onFreed: () => {},
    report: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });
  names.extendBy({
    hold: (name, askedMono) => void board.set(name, { askedMono, state: "held" }),
    drop: (name) => void board.delete(name),
    last: (name) => board.get(name) ?? null,
    close: async () => {},
  });
  return { platform, names, asked, handedBack, givenUp, board };
}

test("a main thread that was busy for longer than a lease goes on with what the thread beside it extended", async () => {
  const { platform, names, asked, givenUp, board } = besideThread();
  await names.beat();
  platform.clock.advance(60_000);
  board.set("name-1", { askedMono: platform.monoMs() - 4_000, state: "held" });
  expect(names.mayBegin("name-1")).toBe(true);
  await names.beat();
  expect([asked, givenUp, names.current]).toEqual([["name-1"], [], "name-1"]);
});

test("a main thread beats for itself while the thread beside it is late", async () => {
  const { platform, names, asked, board } = besideThread();
  await names.beat();
  platform.clock.advance(11_000);
  await names.beat();
  expect(asked).toEqual(["name-1", "name-1"]);
  expect(board.get("name-1")).toEqual({ askedMono: platform.monoMs(), state: "held" });
});

test.each([
  ["lapsed", ["name-1"]],
  ["dead", []],
] as const)(
  "a name that the thread beside found %s is given up, whatever this thread believes",
  async (state, back) => {
    const { platform, names, handedBack, givenUp, board } = besideThread();
    await names.beat();
    platform.clock.advance(1_000);
    board.set("name-1", { askedMono: 0, state });
    await names.beat();
    expect([givenUp, handedBack, names.current]).toEqual([["name-1"], back, "name-2"]);
    expect(names.mayBegin("name-1")).toBe(false);
  },
);

test("a process that was frozen with all its threads trusts nothing that was heard before", async () => {
  const { platform, names, givenUp } = besideThread();
  await names.beat();
  platform.clock.advance(15_000);
  expect(names.mayBegin("name-1")).toBe(false);
  expect(givenUp).toEqual(["name-1"]);
});

test.each([
  ["an answer was lost", (names: LeaseNames) => names.doubt("name-1", new Error("the session was cut"))],
  ["the name before was given up", (names: LeaseNames) => void names.mayBegin("name-1")],
])("a new name is posted to the heartbeat thread in the turn that makes it usable: %s", async (_, renew) => {
  const { platform, names, board } = besideThread();
  await names.beat();
  platform.clock.advance(15_000);
  renew(names);
  expect([names.current, names.enlisted]).toEqual(["name-2", null]);
  const turns: [enlisted: string | null, isPosted: boolean][] = [];
  for (let i = 0; i < 20; i++) {
    turns.push([names.enlisted, board.has("name-2")]);
    await Promise.resolve();
  }
  expect(turns.every(([enlisted, isPosted]) => (enlisted === "name-2") === isPosted)).toBe(true);
  expect(turns.at(-1)).toEqual(["name-2", true]);
});

test("what a heartbeat thread extended counts after the thread has ended, and is posted to the next one", async () => {
  const { platform, names, asked, givenUp, board } = besideThread();
  await names.beat();
  platform.clock.advance(60_000);
  const askedMono = platform.monoMs() - 4_000;
  board.set("name-1", { askedMono, state: "held" });
  names.extendBy(null);
  expect(names.mayBegin("name-1")).toBe(true);
  const posted: [name: string, askedMono: number][] = [];
  names.extendBy({
    hold: (...held) => void posted.push(held),
    drop: () => {},
    last: () => null,
    close: async () => {},
  });
  expect(posted).toEqual([["name-1", askedMono]]);
  await names.beat();
  expect([asked, givenUp]).toEqual([["name-1", "name-1"], []]);
});
