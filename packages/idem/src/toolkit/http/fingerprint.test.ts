import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { FingerprintOptions } from "./begin.ts";
import { canonicalJson } from "./canonical-json.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { normalisedPath, recordId } from "./record-id.ts";

const bytesMax = 1_024 * 1_024;

/** Text that compresses to half of its length, as random bytes in hexadecimal digits do. */
const noiseOf = (bytes: number) => Buffer.from(new ManualPlatform().randomBytes(bytes)).toString("hex");

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
    {
      method,
      path,
      query,
      headers: new Headers({ "content-type": type, ...headers }),
      body: { kind: "bytes", bytes, bytesMax },
    },
    options,
    secret,
  );
}
const same = async (a: Sent, b: Sent, options?: FingerprintOptions) =>
  expect(await print(a, options)).toEqual(await print(b, options));
const differs = async (a: Sent, b: Sent, options?: FingerprintOptions) =>
  expect(await print(a, options)).not.toEqual(await print(b, options));

describe("the fingerprint of a JSON body", () => {
  // pitfall 17
  test("tells integers beyond 2^53 apart", async () => {
    await differs({ body: '{"total":9007199254740993}' }, { body: '{"total":9007199254740992}' });
    await differs({ body: '{"total":1}' }, { body: '{"total":1.0}' });
  });

  // pitfall 17
  test("tells a body with a key twice from one without", async () => {
    await differs({ body: '{"a":1,"a":2}' }, { body: '{"a":2}' });
    await differs({ body: '{"a":1,"a":2}' }, { body: '{"a":2,"a":2}' });
    await differs({ body: '{"a":1,"\\u0061":2}' }, { body: '{"a":2}' });
  });

  // pitfall 18
  test("is the same for any order of keys, also of those that differ by case only", async () => {
    await same({ body: '{"a":1,"A":2,"b":{"y":1,"x":[1,2]}}' }, { body: '{ "b":{"x":[1, 2],"y":1},\n"A":2, "a":1}' });
    await differs({ body: '{"a":1,"A":2}' }, { body: '{"a":2,"A":1}' });
    await differs({ body: "[1,2]" }, { body: "[2,1]" });
  });

  test("is the same however a string was escaped", async () => {
    await same({ body: '{"name":"Zo\\u00eb \\/ \\n"}' }, { body: '{"name":"Zoë / \\n"}' });
  });

  test("is by bytes where it is no JSON, not UTF-8, or too deep", async () => {
    await differs({ body: "{'a':1}" }, { body: "{'a': 1}" });
    await differs({ body: new Uint8Array([0x22, 0xff, 0x22]) }, { body: new Uint8Array([0x22, 0xfe, 0x22]) });
    expect(canonicalJson(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`)).toBeNull();
  });

  test.each(["", "{", '{"a"}', '{"a":}', "[1,]", "01", "1.", "+1", "nul", '"\t"', "1 2", '{"a":1}}', "\u{feff}1"])(
    "takes %j for what it is: not JSON",
    (text) => expect(canonicalJson(text)).toBeNull(),
  );

  test("leaves out what the route omits, and looks only at what it picks", async () => {
    const a = { body: '{"total":1,"sentAt":1,"meta":{"attempt":1,"id":7},"lines":[{"n":1,"at":1}]}' };
    const b = { body: '{"total":1,"sentAt":2,"meta":{"attempt":2,"id":7},"lines":[{"n":1,"at":2}]}' };
    await same(a, b, { omit: ["sentAt", "meta.attempt", "lines.at"] });
    await differs(a, b, { omit: ["sentAt"] });
    await same(a, b, { pick: ["total", "meta.id"] });
    await differs(a, b, { pick: ["total", "meta"] });
  });

  test("is the same for a body that was compressed on one of its ways", async () => {
    const body = '{"total":1}';
    await same({ body }, { body: gzipSync(body), headers: { "content-encoding": "gzip" } });
    const again = { "content-encoding": Array(1_000).fill("gzip").join() };
    await differs({ body: gzipSync(body), headers: again }, { body, headers: again });
    await differs({ body, headers: { "content-encoding": "constructor" } }, { body });
  });
});

describe("the fingerprint of other bodies", () => {
  test("of a form: pairs in order, decoded", async () => {
    const type = "application/x-www-form-urlencoded";
    await same({ type, body: "a=x+y&b=%C3%A9" }, { type: `${type}; charset=utf-8`, body: "a=x%20y&b=é" });
    await differs({ type, body: "a=1&b=2" }, { type, body: "b=2&a=1" });
    await differs({ type, body: "a=%FF" }, { type, body: "a=%FE" });
  });

  // pitfall 22
  test("of a multipart form: its parts, whatever the boundary", async () => {
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
    await same(form("one", "\r\nbytes"), form("two two", "\r\nbytes"));
    await differs(form("one", "bytes"), form("one", "byte"));
    await differs(form("one", "bytes"), { ...form("one", "bytes"), type: "application/octet-stream" });
  });

  test("of a multipart form that is broken: its bytes", async () => {
    const type = "multipart/form-data; boundary=b";
    await differs({ type, body: "--b\r\n\r\nx" }, { type, body: "--b\r\n\r\ny" });
  });

  test("method, path, query and named headers are part of it, their order in the query is not", async () => {
    await differs({ method: "POST" }, { method: "PATCH" });
    await differs({ path: "/a" }, { path: "/b" });
    await same({ query: "?a=1&b=2" }, { query: "?b=2&a=1" });
    await differs({ query: "?a=1" }, { query: "?a=2" });
    const versions = [{ headers: { "api-version": "1" } }, { headers: { "api-version": "2" } }] as const;
    await same(...versions);
    await differs(...versions, { headers: ["API-Version"] });
  });

  test("under a secret comes with the plain one, by which older records are compared", async () => {
    const [plain] = await print({ body: "{}" });
    const [secret, before] = await print({ body: "{}" }, {}, "s3cret");
    expect(before).toEqual(plain);
    expect(secret!.version).not.toBe(plain!.version);
    expect((await print({ body: "{}" }, {}, "other"))[0]).not.toEqual(secret);
  });
});

describe("a body that would become too much is compared as it came", () => {
  const form = "application/x-www-form-urlencoded";
  const brotli = (text: string, quality: number) =>
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
  const twice = (text: string, type: string): [Sent, Sent] => {
    const [a, b] = [brotli(text, 9), brotli(text, 1)];
    expect(a).not.toEqual(b);
    const headers = { "content-encoding": "br" };
    return [
      { body: a, type, headers },
      { body: b, type, headers },
    ];
  };

  test.each([
    ["a form", form, (count: number) => "a&".repeat(count)],
    ["JSON", "application/json", (count: number) => `"${"a".repeat(count)}"`],
  ])("%s of a few bytes that is a hundred times as long, and longer than 64 KiB", async (_, type, text) => {
    const [small] = twice(text(4_000_000), type);
    expect((small.body as Buffer).length).toBeLessThan(600);
    await differs(...twice(text(4_000_000), type));
    await differs(...twice(text(70_000), type));
    // Below that it is undone, whatever it was made of.
    await same(...twice(text(4_000), type));
  });

  test("what is longer than any body of its route", async () => {
    const noise = noiseOf(bytesMax);
    for (const [length, check] of [
      [bytesMax - 2, same],
      [bytesMax - 1, differs],
    ] as const) {
      const [a, b] = [1, 9].map((level) => gzipSync(JSON.stringify(noise.slice(0, length)), { level }));
      const headers = { "content-encoding": "gzip" };
      await check({ body: a!, headers }, { body: b!, headers });
    }
  });

  test("what was compressed twice, by what it was when it came", async () => {
    const [a, b] = [1, 9].map((level) => gzipSync(gzipSync("a".repeat(20_000_000), { level })));
    const headers = { "content-encoding": "gzip, gzip" };
    await differs({ body: a!, headers }, { body: b!, headers });
  });

  test("a form of more than 1,000 pairs, and a query as well", async () => {
    const pairs = (count: number, blank: string) => Array(count).fill(`a=${blank}`).join("&");
    await same({ type: form, body: pairs(1_001, "+") }, { type: form, body: pairs(1_001, "%20") });
    await differs({ type: form, body: pairs(1_002, "+") }, { type: form, body: pairs(1_002, "%20") });
    await same({ query: pairs(1_001, "+") }, { query: pairs(1_001, "%20") });
    await differs({ query: pairs(1_002, "+") }, { query: pairs(1_002, "%20") });
  });

  test("JSON of more than 100,000 values", async () => {
    const list = (count: number, between: string) => `[${Array(count).fill("1").join(between)}]`;
    await same({ body: list(99_999, ",") }, { body: list(99_999, ", ") });
    await differs({ body: list(100_000, ",") }, { body: list(100_000, ", ") });
    await differs(
      { body: list(100_000, ",").replaceAll("1", "{}") },
      { body: list(100_000, ", ").replaceAll("1", "{}") },
    );
  });

  test("and is undone beside the event loop, which goes on meanwhile", async () => {
    let turns = 0;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await print({ body: gzipSync(noiseOf(500_000)), headers: { "content-encoding": "gzip" } });
    clearImmediate(next);
    expect(turns).toBeGreaterThan(0);
  });
});

test("a name of 500,000 characters is not looked at again with every field under it", () => {
  let reads = 0;
  const view = { omit: ["x"], pick: ["data"] };
  const fields = Array.from({ length: 20_000 }, (_, i) => `"${i}":1`).join();
  const has = Set.prototype.has;
  // Paths used to be looked up as one text each.
  Set.prototype.has = function (value: unknown) {
    reads += String(value).length;
    return has.call(this, value);
  };
  try {
    expect(canonicalJson(`{"data":{"${"a".repeat(500_000)}":{${fields}}}}`, view)).not.toBeNull();
  } finally {
    Set.prototype.has = has;
  }
  expect(reads).toBeLessThan(2_000_000);
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
