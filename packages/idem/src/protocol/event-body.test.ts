import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { normaliseEvent, normaliseEvents, readEventBody } from "./event-body.ts";

const read = (contentType: string | undefined, text: string, formName: string | null = null) =>
  readEventBody({ contentType, bytes: Buffer.from(text), formName, json: () => JSON.parse(text) });

const refusal = async (promise: Promise<unknown>): Promise<IdemError> => {
  const error = await promise.then(String, (caught) => caught);
  expect(error).toBeInstanceOf(IdemError);
  return error;
};

describe("a body", () => {
  test("is one event or a list of them", async () => {
    expect(await read("application/json", '{"name":"a/b"}')).toEqual([{ name: "a/b" }]);
    expect(await read(undefined, '[{"name":"a/b"},{"name":"a/c"}]')).toEqual([{ name: "a/b" }, { name: "a/c" }]);
    expect(await read("application/json", "[]")).toEqual([]);
  });

  test("that curl calls a form although it is JSON is read as JSON", async () => {
    expect(await read("application/x-www-form-urlencoded", '{"name":"a/b"}')).toEqual([{ name: "a/b" }]);
    expect(await read("application/x-www-form-urlencoded", '[{"name":"a/b"}]')).toEqual([{ name: "a/b" }]);
  });

  test("that is a form becomes one event, named in the URL, with lists of strings", async () => {
    const [event] = await read("application/x-www-form-urlencoded", "a=1&a=2&b=x%20y&__proto__=p", "shop/form");
    expect(event).toMatchObject({ name: "shop/form", data: { a: ["1", "2"], b: ["x y"] } });
    expect(JSON.stringify((event as any).data)).toBe('{"a":["1","2"],"b":["x y"],"__proto__":["p"]}');
    const parts = [
      "--xyz",
      'content-disposition: form-data; name="a"',
      "",
      "1",
      "--xyz",
      'content-disposition: form-data; name="a"',
      "",
      "2",
      "--xyz--",
      "",
    ].join("\r\n");
    expect(await read("multipart/form-data; boundary=xyz", parts, "shop/form")).toMatchObject([
      { name: "shop/form", data: { a: ["1", "2"] } },
    ]);
  });

  test("that is a form of more than 1,000 fields is refused before any of them is built", async () => {
    const urlencoded = (count: number) => read("application/x-www-form-urlencoded", "a&".repeat(count), "shop/form");
    expect(await urlencoded(1_000)).toMatchObject([{ data: { a: { length: 1_000 } } }]);
    expect(await refusal(urlencoded(1_001))).toMatchObject({ code: "BODY_INVALID" });
    expect((await refusal(urlencoded(5_000_000))).message).toContain("more than 1000 fields");
    const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n&\r\n';
    const multipart = (count: number) =>
      read("Multipart/form-data; boundary=x", `${part.repeat(count)}--x--\r\n`, "shop/form");
    expect(await multipart(1_000)).toMatchObject([{ data: { a: { length: 1_000 } } }]);
    expect((await refusal(multipart(1_001))).message).toContain("more than 1000 fields");
  });

  test("that is a form without a name, with a file, or no form at all is refused with what to do", async () => {
    const nameless = await refusal(read("application/x-www-form-urlencoded", "a=1"));
    expect(nameless).toMatchObject({ code: "EVENT_INVALID" });
    expect(nameless.message).toContain("?name=");
    const file = [
      "--xyz",
      'content-disposition: form-data; name="doc"; filename="a.txt"',
      "content-type: text/plain",
      "",
      "1",
      "--xyz--",
      "",
    ].join("\r\n");
    const withFile = await refusal(read("multipart/form-data; boundary=xyz", file, "shop/form"));
    expect(withFile.message).toContain('field "doc" is a file');
    for (const [type, text] of [
      ["multipart/form-data", "a=1"],
      ["multipart/form-data; boundary=xyz", "--xyz\r\nrubbish"],
    ] as const) {
      expect((await refusal(read(type, text, "shop/form"))).code).toBe("BODY_INVALID");
    }
  });
});

describe("an event on the wire", () => {
  const normalised = (event: unknown) => JSON.parse(JSON.stringify(normaliseEvent(event, "The event")));

  test("may not say who invoked whom", () => {
    expect(normalised({ name: "a/b", data: { x: 1, _inngest: { fn_id: "shop-pay" } } })).toEqual({
      name: "a/b",
      data: { x: 1 },
    });
  });

  test("may write 0 or null for a time, and null for a user, that it does not have", () => {
    expect(normalised({ name: "a/b", ts: 0, user: null, data: null })).toEqual({ name: "a/b", data: null });
    expect(normalised({ name: "a/b", ts: 5, user: { id: 1 } })).toEqual({ name: "a/b", ts: 5, user: { id: 1 } });
  });

  test("that is no object is left for the one who checks events", () => {
    expect(normaliseEvents([1, null, "x", []])).toEqual([1, null, "x", []]);
  });

  test("keeps every other field, whatever its name", () => {
    const text = '{"name":"a/b","id":"7","v":"2","data":{"__proto__":1},"__proto__":{"x":1}}';
    expect(JSON.stringify(normaliseEvent(JSON.parse(text), "The event"))).toBe(text);
  });
});

describe("sessions", () => {
  const merged = (meta: unknown) => (normaliseEvent({ name: "a/b", meta }, "Event 2 of 3") as any).meta;

  test("the sender's own lie over the copied ones: a value replaces, null cuts one, null for all cuts all", () => {
    const propagated = { chat: "c1", user: "u1", org: "o1" };
    expect(merged({ sessions: { user: 7, chat: null }, propagated_sessions: propagated })).toEqual({
      sessions: { user: "7", org: "o1" },
    });
    expect(merged({ sessions: null, propagated_sessions: propagated })).toEqual({});
    expect(merged({ propagated_sessions: propagated })).toEqual({ sessions: propagated });
    expect(merged({ other: true })).toEqual({ other: true });
  });

  test("the sender's own may be five; copied ones fill the room that is left, always the same ones", () => {
    const copied = { z: "1", y: "2", x: "3", w: "4" };
    expect(merged({ sessions: { a: "1", b: "2", c: "3" }, propagated_sessions: copied })).toEqual({
      sessions: { a: "1", b: "2", c: "3", w: "4", x: "3" },
    });
  });

  test.each([
    ["six", { sessions: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`k${i}`, "x"])) }, "6 sessions"],
    ["a list", { sessions: [] }, "meta.sessions must be an object"],
    ["an object for an id", { sessions: { a: {} } }, '"a" must be a string'],
    ["an empty id", { sessions: { a: "" } }, '"a" has 0 bytes'],
    ["an id too long", { sessions: { a: "é".repeat(257) } }, '"a" has 514 bytes'],
    ["a key too long", { propagated_sessions: { ["k".repeat(129)]: "x" } }, "129 bytes"],
    ["a meta that is no object", "x", "meta must be an object"],
  ])("%s: refused, with the event and the reason", (_, meta, why) => {
    expect(() => merged(meta)).toThrow(IdemError);
    expect(() => merged(meta)).toThrow("Event 2 of 3");
    expect(() => merged(meta)).toThrow(why);
  });
});
