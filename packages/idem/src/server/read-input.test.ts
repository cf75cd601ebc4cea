import { describe, expect, test } from "vitest";
import { z } from "zod";
import { IdemError } from "../model/errors.ts";
import { readBody, readCursor, readInstant, readQuery, writeCursor } from "./read-input.ts";

const whyNot = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof IdemError) return `${error.code}: ${error.facts.why}`;
    throw error;
  }
  return "it was taken";
};

const query = z.strictObject({ limit: z.coerce.number().int().min(1).max(10).default(5), name: z.string().optional() });

describe("a query", () => {
  const read = (text: string) => readQuery(query, new URLSearchParams(text));

  test("is read by its schema, with what it leaves out filled in", () => {
    expect(read("limit=3&name=a%2Fb")).toEqual({ limit: 3, name: "a/b" });
    expect(read("")).toEqual({ limit: 5 });
  });

  test("is refused with the name of the parameter and the reason", () => {
    expect(whyNot(() => read("limit=11"))).toMatch(/^REQUEST_INVALID: query parameter "limit": too big/);
    expect(whyNot(() => read("limit=many"))).toMatch(/query parameter "limit": invalid input: expected number/);
    expect(whyNot(() => read("limit="))).toMatch(/query parameter "limit": too small/);
    expect(whyNot(() => read("nmae=a"))).toBe(
      'REQUEST_INVALID: query parameter "nmae" is not known; did you mean "name"?',
    );
    expect(whyNot(() => read("name=a&name=b"))).toMatch(/"name" is given more than once/);
  });

  test("with the names of JavaScript's own machinery changes nothing and is refused", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(whyNot(() => read(`${name}=1`))).toContain(`"${name}" is not known`);
    }
    expect(({} as Record<string, unknown>).limit).toBeUndefined();
  });

  test("with a name as long as its sender likes is quoted in part", () => {
    expect(whyNot(() => read(`${"x".repeat(10_000)}=1`)).length).toBeLessThan(200);
  });
});

describe("a body", () => {
  const body = z.strictObject({
    reason: z.string().optional(),
    filter: z.strictObject({ state: z.string() }).optional(),
  });
  const read = (value: unknown) =>
    readBody(body, { body: Buffer.from(value === undefined ? "" : "x"), json: () => value });

  test("that is missing is an empty one", () => {
    expect(read(undefined)).toEqual({});
  });

  test("is refused with the path of the field and the reason", () => {
    expect(whyNot(() => read({ filter: { state: 1 } }))).toMatch(/body field "filter.state": invalid input/);
    expect(whyNot(() => read({ filter: { state: "a", sate: 1 } }))).toMatch(
      /body field "sate" of "filter" is not known/,
    );
    expect(whyNot(() => read([]))).toMatch(/the body is not usable/);
  });
});

test("an instant is milliseconds, ISO 8601, or how long ago", () => {
  const now = Date.UTC(2026, 4, 15);
  expect(readInstant("since", "7d", now)).toBe(Date.UTC(2026, 4, 8));
  expect(readInstant("since", "2026-05-01T00:00:00Z", now)).toBe(Date.UTC(2026, 4, 1));
  expect(readInstant("since", String(now), 0)).toBe(now);
  for (const wrong of ["yesterday", "2026-13-01", "-7d", "2026-05-01T99:00:00Z", "7", "9999999999999999"]) {
    expect(whyNot(() => readInstant("since", wrong, now))).toMatch(/REQUEST_INVALID: "since" is /);
  }
});

test("a cursor comes back as it went out, and anything else is refused", () => {
  expect(readCursor(writeCursor("fn:a", '"é"'), 2)).toEqual(["fn:a", '"é"']);
  for (const wrong of ["", "x", writeCursor("one"), Buffer.from("[1,2]").toString("base64url")]) {
    expect(whyNot(() => readCursor(wrong, 2))).toMatch(/REQUEST_INVALID/);
  }
});
