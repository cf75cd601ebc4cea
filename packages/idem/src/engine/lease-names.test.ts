import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { LeaseNames } from "./lease-names.ts";
import { StoreTime } from "./store-time.ts";

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
