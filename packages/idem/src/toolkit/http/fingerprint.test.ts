import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { FingerprintOptions } from "./begin.ts";
import { canonicalJson } from "./canonical-json.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { normalisedPath, recordId } from "./record-id.ts";

interface Sent {
  body?: string | Uint8Array;
  type?: string;
  query?: string;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

function print(sent: Sent, options: FingerprintOptions = {}, secret: string | null = null) {
  const { body = "", type = "application/json", query = "", path = "/charges", method = "POST", headers = {} } = sent;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return fingerprintsOf(
    { method, path, query, headers: new Headers({ "content-type": type, ...headers }), body: { kind: "bytes", bytes } },
    options,
    secret,
  );
}
const same = (a: Sent, b: Sent, options?: FingerprintOptions) => expect(print(a, options)).toEqual(print(b, options));
const differs = (a: Sent, b: Sent, options?: FingerprintOptions) =>
  expect(print(a, options)).not.toEqual(print(b, options));

describe("the fingerprint of a JSON body", () => {
  // pitfall 17
  test("tells integers beyond 2^53 apart", () => {
    differs({ body: '{"total":9007199254740993}' }, { body: '{"total":9007199254740992}' });
    differs({ body: '{"total":1}' }, { body: '{"total":1.0}' });
  });

  // pitfall 17
  test("tells a body with a key twice from one without", () => {
    differs({ body: '{"a":1,"a":2}' }, { body: '{"a":2}' });
    differs({ body: '{"a":1,"a":2}' }, { body: '{"a":2,"a":2}' });
    differs({ body: '{"a":1,"\\u0061":2}' }, { body: '{"a":2}' });
  });

  // pitfall 18
  test("is the same for any order of keys, also of those that differ by case only", () => {
    same({ body: '{"a":1,"A":2,"b":{"y":1,"x":[1,2]}}' }, { body: '{ "b":{"x":[1, 2],"y":1},\n"A":2, "a":1}' });
    differs({ body: '{"a":1,"A":2}' }, { body: '{"a":2,"A":1}' });
    differs({ body: "[1,2]" }, { body: "[2,1]" });
  });

  test("is the same however a string was escaped", () => {
    same({ body: '{"name":"Zo\\u00eb \\/ \\n"}' }, { body: '{"name":"Zoë / \\n"}' });
  });

  test("is by bytes where it is no JSON, not UTF-8, or too deep", () => {
    differs({ body: "{'a':1}" }, { body: "{'a': 1}" });
    differs({ body: new Uint8Array([0x22, 0xff, 0x22]) }, { body: new Uint8Array([0x22, 0xfe, 0x22]) });
    expect(canonicalJson(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`)).toBeNull();
  });

  test.each(["", "{", '{"a"}', '{"a":}', "[1,]", "01", "1.", "+1", "nul", '"\t"', "1 2", '{"a":1}}', "\u{feff}1"])(
    "takes %j for what it is: not JSON",
    (text) => expect(canonicalJson(text)).toBeNull(),
  );

  test("leaves out what the route omits, and looks only at what it picks", () => {
    const a = { body: '{"total":1,"sentAt":1,"meta":{"attempt":1,"id":7},"lines":[{"n":1,"at":1}]}' };
    const b = { body: '{"total":1,"sentAt":2,"meta":{"attempt":2,"id":7},"lines":[{"n":1,"at":2}]}' };
    same(a, b, { omit: ["sentAt", "meta.attempt", "lines.at"] });
    differs(a, b, { omit: ["sentAt"] });
    same(a, b, { pick: ["total", "meta.id"] });
    differs(a, b, { pick: ["total", "meta"] });
  });

  test("is the same for a body that was compressed on one of its ways", () => {
    const body = '{"total":1}';
    same({ body }, { body: gzipSync(body), headers: { "content-encoding": "gzip" } });
    const again = { "content-encoding": Array(1_000).fill("gzip").join() };
    differs({ body: gzipSync(body), headers: again }, { body, headers: again });
    differs({ body, headers: { "content-encoding": "constructor" } }, { body });
  });
});

describe("the fingerprint of other bodies", () => {
  test("of a form: pairs in order, decoded", () => {
    const type = "application/x-www-form-urlencoded";
    same({ type, body: "a=x+y&b=%C3%A9" }, { type: `${type}; charset=utf-8`, body: "a=x%20y&b=é" });
    differs({ type, body: "a=1&b=2" }, { type, body: "b=2&a=1" });
    differs({ type, body: "a=%FF" }, { type, body: "a=%FE" });
  });

  // pitfall 22
  test("of a multipart form: its parts, whatever the boundary", () => {
    const form = (boundary: string, file: string) => ({
      type: `multipart/form-data; boundary=${boundary.includes(" ") ? `"${boundary}"` : boundary}`,
      body: [
        `--${boundary}`,
        'Content-Disposition: form-data; name="note"',
        "",
        "hello",
        `--${boundary}`,
        'Content-Disposition: form-data; name="scan"; filename="a.png"',
        "Content-Type: image/png",
        "",
        file,
        `--${boundary}--`,
        "",
      ].join("\r\n"),
    });
    same(form("one", "\r\nbytes"), form("two two", "\r\nbytes"));
    differs(form("one", "bytes"), form("one", "byte"));
    differs(form("one", "bytes"), { ...form("one", "bytes"), type: "application/octet-stream" });
  });

  test("of a multipart form that is broken: its bytes", () => {
    const type = "multipart/form-data; boundary=b";
    differs({ type, body: "--b\r\n\r\nx" }, { type, body: "--b\r\n\r\ny" });
  });

  test("method, path, query and named headers are part of it, their order in the query is not", () => {
    differs({ method: "POST" }, { method: "PATCH" });
    differs({ path: "/a" }, { path: "/b" });
    same({ query: "?a=1&b=2" }, { query: "?b=2&a=1" });
    differs({ query: "?a=1" }, { query: "?a=2" });
    const versions = [{ headers: { "api-version": "1" } }, { headers: { "api-version": "2" } }] as const;
    same(...versions);
    differs(...versions, { headers: ["API-Version"] });
  });

  test("under a secret comes with the plain one, by which older records are compared", () => {
    const [plain] = print({ body: "{}" });
    const [secret, before] = print({ body: "{}" }, {}, "s3cret");
    expect(before).toEqual(plain);
    expect(secret!.version).not.toBe(plain!.version);
    expect(print({ body: "{}" }, {}, "other")[0]).not.toEqual(secret);
  });
});

describe("the record of a key", () => {
  const of = {
    namespace: "n",
    tenant: null,
    principal: "p",
    method: "POST",
    path: "/p",
    key: "k",
    scope: "route",
  } as const;

  // pitfall 13
  test("is never another one's whose parts join to the same text", () => {
    expect(recordId({ ...of, path: "/p:q", key: "c" })).not.toBe(recordId({ ...of, path: "/p", key: "q:c" }));
    expect(recordId({ ...of, tenant: "" })).not.toBe(recordId({ ...of, tenant: null }));
    expect(recordId({ ...of, principal: null })).not.toBe(recordId({ ...of, principal: "-" }));
  });

  test("is one per principal and key where the route says so", () => {
    const wide = { ...of, scope: "principal" } as const;
    expect(recordId({ ...wide, path: "/a" })).toBe(recordId({ ...wide, path: "/b" }));
    expect(recordId({ ...of, path: "/a" })).not.toBe(recordId({ ...of, path: "/b" }));
  });

  test.each([
    ["/orders/1/", "/orders/1"],
    ["/orders/./x/../1", "/orders/1"],
    ["/caf%C3%A9", "/café"],
    ["/%63harges", "/charges"],
    ["/a%2Fb", "/a%2Fb"],
    ["/a%252Fb", "/a%252Fb"],
    ["/%ff", "/%ff"],
    ["/", "/"],
  ])("takes the path %s as %s", (path, expected) => {
    expect(normalisedPath(new URL(path, "http://shop.test"))).toBe(expected);
  });
});
