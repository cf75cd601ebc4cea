import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCron } from "./cron.ts";
import { IdemError } from "./errors.ts";

const refused = (text: unknown): IdemError | null => {
  try {
    parseCron(text as string);
    return null;
  } catch (error) {
    if (error instanceof IdemError && error.code === "CRON_INVALID") return error;
    throw error;
  }
};

describe("accepted", () => {
  test.each([
    ["0 9 * * 1", { zone: null, fields: "0 9 * * 1" }],
    ["TZ=Europe/Paris 0 9 * * 1", { zone: "Europe/Paris", fields: "0 9 * * 1" }],
    ["TZ=UTC */5 * * * *", { zone: "UTC", fields: "*/5 * * * *" }],
    ["TZ=America/Argentina/Buenos_Aires 0 0 1 1 *", { zone: "America/Argentina/Buenos_Aires", fields: "0 0 1 1 *" }],
    ["  0\t9  * * mon-fri ", { zone: null, fields: "0 9 * * mon-fri" }],
    ["0,30 8-18/2 1,15 JAN-JUN SUN,7", { zone: null, fields: "0,30 8-18/2 1,15 JAN-JUN SUN,7" }],
    ["0 0 29 2 *", { zone: null, fields: "0 0 29 2 *" }],
  ])("%s", (text, schedule) => {
    expect(parseCron(text)).toEqual(schedule);
  });

  test("every combination of fields in their ranges", () => {
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 1, max: max - min }).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
        fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 5 }).map((list) => list.join(",")),
      );
    fc.assert(
      fc.property(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6), (...fields) => {
        const text = fields.join(" ");
        expect(parseCron(text)).toEqual({ zone: null, fields: text });
      }),
      { numRuns: 200 },
    );
  });
});

describe("refused", () => {
  test.each([
    ["too few fields", "0 9 * *"],
    ["seconds", "0 0 9 * * 1"],
    ["a year", "0 9 * * 1 2027"],
    ["nothing", ""],
    ["blanks", "   "],
    ["a zone alone", "TZ=Europe/Paris"],
    ["a zone nobody knows", "TZ=Europe/Atlantis 0 9 * * 1"],
    ["an empty zone", "TZ= 0 9 * * 1"],
    ["an offset", "TZ=+02:00 0 9 * * 1"],
    ["minute 60", "60 * * * *"],
    ["hour 24", "0 24 * * *"],
    ["day 0", "0 0 0 * *"],
    ["day 32", "0 0 32 * *"],
    ["month 13", "0 0 1 13 *"],
    ["weekday 8", "0 0 * * 8"],
    ["a step of 0", "*/0 * * * *"],
    ["a range backwards", "5-1 * * * *"],
    ["an empty list entry", "1,,2 * * * *"],
    ["a negative minute", "-1 * * * *"],
    ["a day that never comes", "0 0 31 2 *"],
    ["a nickname", "@daily"],
    ["the last day, which not every cron knows", "0 0 L * *"],
    ["a question mark, which means now to some", "? * * * *"],
    ["a hash", "0 0 * * 1#2"],
    ["a nearest weekday", "0 0 15W * *"],
    ["words", "every day at nine"],
    ["a line break", "0 9 * * 1\n0 10 * * 1"],
    ["far too much", `${"1,".repeat(500)}1 * * * *`],
  ])("%s", (_, text) => {
    expect(refused(text)).toBeInstanceOf(IdemError);
  });

  test("whatever is given, the answer is a schedule or CRON_INVALID, and a schedule reads back as itself", () => {
    const almost = fc
      .array(fc.constantFrom("*", "0", "5", "60", "-1", "1-5", "*/2", "MON", "L", "?", "TZ=UTC", "x", "1,2", "#"), {
        maxLength: 8,
      })
      .map((parts) => parts.join(" "));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), almost, fc.anything()), (text) => {
        if (refused(text) !== null) return;
        const { zone, fields } = parseCron(text as string);
        expect(parseCron(zone === null ? fields : `TZ=${zone} ${fields}`)).toEqual({ zone, fields });
      }),
      { numRuns: 500 },
    );
  });
});
