import vm from "node:vm";
import { expect, test } from "vitest";
import { type KnownOptions, refuseUnknown } from "./known-options.ts";

interface Options {
  readonly store?: string;
  readonly window?: string;
}

const known: KnownOptions<Options> = { store: true, window: true };
const check = (given: unknown) => refuseUnknown<Options>("new Idem", given, known);

test("an unknown option is refused with where it was given and the word that was meant", () => {
  expect(() => check({ stroe: "memory:" })).toThrow(
    'new Idem: unknown option "stroe"; did you mean "store"? Correct its name or remove it',
  );
  expect(() => check({ colour: 1 })).toThrow('new Idem: unknown option "colour"; known are store, window.');
});

test("options of another realm and without a prototype are checked like any other", () => {
  expect(() => check(vm.runInNewContext("({ stroe: 1 })"))).toThrow("stroe");
  expect(() => check(Object.assign(Object.create(null), { stroe: 1 }))).toThrow("stroe");
});

test("what is no options is left to its reader: undefined, texts, lists, options that are undefined, instances of classes", () => {
  class Settings {
    readonly store = "memory:";
    readonly comment = "ours";
  }
  for (const given of [undefined, null, "memory:", ["stroe"], { store: "x", stroe: undefined }, new Settings()]) {
    check(given);
  }
});

test("names that every object inherits are not known options", () => {
  expect(() => check({ constructor: 1 })).toThrow('"constructor"');
  expect(() => check(JSON.parse('{ "__proto__": 1 }'))).toThrow('"__proto__"');
});

test("an option of Inngest's that has no use here is told and passed over", () => {
  const told: string[] = [];
  const foreign = { options: { isDev: "the address says it" }, warn: (message: string) => told.push(message) };
  refuseUnknown<Options>("new Idem", { store: "x", isDev: true }, known, foreign);
  expect(told).toEqual([
    'new Idem: option "isDev" is Inngest\'s and has no effect in Idem: the address says it; it can be removed',
  ]);
});

test("a list of known options that misses one, or has one too many, does not compile", () => {
  // @ts-expect-error window is missing
  const less: KnownOptions<Options> = { store: true };
  // @ts-expect-error there is no colour
  const more: KnownOptions<Options> = { store: true, window: true, colour: true };
  // Of a union every part counts.
  const both: KnownOptions<{ a: 1 } | { b: 2 }> = { a: true, b: true };
  expect([less, more, both]).toHaveLength(3);
});
