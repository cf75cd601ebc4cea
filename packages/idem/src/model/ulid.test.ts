import fc from "fast-check";
import { expect, test } from "vitest";
import { makeUlid, UlidSource, ulidTime } from "./ulid.ts";

const zeros = new Uint8Array(10);
const ones = new Uint8Array(10).fill(255);
const entropy = fc.uint8Array({ minLength: 10, maxLength: 10 });
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test("a ULID is the one the specification gives", () => {
  expect(makeUlid(1469918176385, zeros)).toBe("01ARYZ6S410000000000000000");
  expect(makeUlid(2 ** 48 - 1, ones)).toBe("7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  expect(makeUlid(0, Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 33]))).toBe("00000000000000000000000011");
});

test("a ULID gives its time back", () => {
  fc.assert(
    fc.property(time, entropy, (ms, bytes) => {
      expect(ulidTime(makeUlid(ms, bytes))).toBe(ms);
    }),
  );
  expect(ulidTime(makeUlid(1469918176385, ones).toLowerCase())).toBe(1469918176385);
});

test("ULIDs sort as their times and then their entropy do", () => {
  fc.assert(
    fc.property(time, time, entropy, entropy, (a, b, x, y) => {
      const expected = a !== b ? a < b : Buffer.compare(x, y) < 0;
      expect(makeUlid(a, x) < makeUlid(b, y)).toBe(expected);
    }),
  );
});

test.each(["", "abc", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARYZ6S4100000000000000U0", "01ARYZ6S41000000000000000", "é"])(
  "the text %j is no ULID and has no time",
  (text) => {
    expect(ulidTime(text)).toBeNaN();
  },
);

test.each([-1, 1.5, 2 ** 48, Number.NaN])("the time %d cannot become a ULID", (ms) => {
  expect(() => makeUlid(ms, zeros)).toThrow(RangeError);
});

test("ids from one source only grow, whatever the clock does", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 200 }),
      entropy,
      (clock, bytes) => {
        const instants = clock.values();
        const source = new UlidSource(
          () => instants.next().value ?? 0,
          (count) => Uint8Array.from({ length: count }, (_, i) => bytes[i % 10]!),
        );
        const ids = clock.map(() => source.next());
        for (const [i, id] of ids.entries()) {
          expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
          if (i > 0) expect(id > ids[i - 1]!).toBe(true);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a source whose entropy is used up within a millisecond moves on to the next", () => {
  const source = new UlidSource(
    () => 7,
    (count) => new Uint8Array(count).fill(255),
  );
  expect(ulidTime(source.next())).toBe(7);
  expect(ulidTime(source.next())).toBe(8);
});

test("a source draws random bytes once for many milliseconds", () => {
  let drawCount = 0;
  let ms = 0;
  const source = new UlidSource(
    () => ms++,
    (count) => {
      drawCount++;
      return new Uint8Array(count);
    },
  );
  for (let i = 0; i < 1000; i++) source.next();
  expect(drawCount).toBe(10);
});
