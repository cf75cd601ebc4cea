import { expect, test } from "vitest";
import { Refusals } from "./refusals.ts";

function audit() {
  const clock = { ms: 0, due: null as (() => void) | null };
  const written: string[][] = [];
  const store = { isAway: false };
  const refusals = new Refusals({
    platform: {
      monoMs: () => clock.ms,
      timer: (_, run) => {
        clock.due = run;
        const cancel = () => {
          clock.due = null;
        };
        return { cancel };
      },
    },
    write: async (address, reason) => {
      if (store.isAway) throw new Error("away");
      written.push([address, reason]);
    },
  });
  const minute = async () => {
    clock.ms += 60_000;
    const { due } = clock;
    clock.due = null;
    due?.();
    await new Promise(setImmediate);
  };
  return { refusals, written, minute, store };
}

test("the audit hears of ten wrong passwords in a minute, and at its end of how many more there were and from where", async () => {
  const { refusals, written, minute } = audit();
  for (let i = 0; i < 30; i++) await refusals.wrongPassword("10.0.0.9", "wrong");
  for (let i = 0; i < 3_000; i++) refusals.overBound("10.0.0.9");
  refusals.overBound("10.0.0.8");
  expect(written).toHaveLength(10);
  await minute();
  expect(written).toHaveLength(11);
  expect(written.at(-1)).toEqual([
    "",
    "20 more wrong passwords and 3001 tries over the bound since the last note: 10.0.0.9 (3020), 10.0.0.8 (1)",
  ]);
  await minute();
  expect(written).toHaveLength(11);
  await refusals.wrongPassword("10.0.0.9", "again");
  expect(written.at(-1)).toEqual(["10.0.0.9", "again"]);
});

test("what strangers make the audit remember is bounded, from however many addresses they come", async () => {
  const { refusals, written, minute } = audit();
  for (let i = 0; i < 5_000; i++) refusals.overBound(`2001:db8::${i.toString(16)}`);
  await minute();
  expect(written).toHaveLength(1);
  expect(written[0]![1]!.length).toBeLessThan(500);
  expect(written[0]![1]).toContain("5000 tries over the bound");
  expect(written[0]![1]).toContain("more addresses");
});

test("what the store did not take is said a minute later, whether or not anybody guesses again", async () => {
  const { refusals, written, minute, store } = audit();
  refusals.overBound("10.0.0.9");
  store.isAway = true;
  await minute();
  expect(written).toEqual([]);
  store.isAway = false;
  await minute();
  expect(written).toEqual([
    ["10.0.0.9", "0 more wrong passwords and 1 tries over the bound since the last note: 10.0.0.9 (1)"],
  ]);
});
