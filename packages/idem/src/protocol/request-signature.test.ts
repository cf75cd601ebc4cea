import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalBody, signRequest, verifySignature } from "./request-signature.ts";

// docs/reference/wire.md#signatures
const key = "0123456789abcdef0123456789abcdef";
const body = '{"ctx":{"run_id":"01JD0000000000000000000000"},"event":{"name":"a/b"}}';
const nowMs = 1_700_000_000_000;
const signature = "t=1700000000&s=e68b46f674a116fddead188c24c7880148d11a18155d02f3756b5e095865f7ef";

test("a request is signed over its canonical body and the time, with the key's text without its prefix", () => {
  expect(signRequest(body, key, nowMs)).toBe(signature);
  expect(signRequest(body, `signkey-prod-${key}`, nowMs + 999)).toBe(signature);
});

test("the order of keys and blanks in a body do not change its canonical form", () => {
  const other = '{ "event": {"name": "a/b"},\n"ctx": {"run_id":"01JD0000000000000000000000"} }';
  expect(canonicalBody(other)).toBe(body);
});

test("canonical numbers and texts are those of RFC 8785", () => {
  // The example of its section 3.2.3, and of its appendix B for numbers.
  const input = `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}`;
  expect(canonicalBody(input)).toBe(
    `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA'B\\"\\\\\\\\\\"/"}`,
  );
  expect(canonicalBody("[-0,9007199254740993,5e-324,1.7976931348623157e308]")).toBe(
    "[0,9007199254740992,5e-324,1.7976931348623157e+308]",
  );
});

describe("what is signed is what the SDK makes of the body it received", () => {
  // The SDK's own dependency, found from where the SDK stands.
  const fromSdk = createRequire(createRequire(import.meta.url).resolve("inngest"));
  const canonicalize = fromSdk("canonicalize") as (value: unknown) => string;
  const bySdk = (sent: string) =>
    createHmac("sha256", key)
      .update(canonicalize(JSON.parse(sent)) + 1_700_000_000)
      .digest("hex");

  test("for any body", () => {
    const names = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "toJSON", "10", "9", "a"));
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        fc.jsonValue({ maxDepth: 0 }),
        fc.array(tie("any"), { maxLength: 4 }),
        fc.dictionary(names, tie("any"), { maxKeys: 6 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (given) => {
        const sent = canonicalBody(JSON.stringify(given));
        expect(signRequest(sent, key, nowMs)).toBe(`t=1700000000&s=${bySdk(sent)}`);
      }),
      { numRuns: 200 },
    );
  });

  test("also with a field named toJSON, whose object the SDK leaves unsorted", () => {
    const sent = canonicalBody('{"data":{"toJSON":"x","9":{"b":1,"a":2},"10":0}}');
    expect(sent).toBe('{"data":{"10":0,"9":{"a":2,"b":1},"toJSON":"x"}}');
    expect(signRequest(sent, key, nowMs)).toBe(`t=1700000000&s=${bySdk(sent)}`);
  });
});

describe("an answer's signature", () => {
  const raw = '{ "b": 1, "a": 2 }';
  const sign = (text: string, atMs: number, by = key) => {
    const t = Math.floor(atMs / 1_000);
    return `t=${t}&s=${createHmac("sha256", by).update(`${text}${t}`).digest("hex")}`;
  };
  const verify = (header: string | undefined, text: string | Uint8Array = raw, keys: readonly string[] = [key]) =>
    verifySignature(header, text, keys, nowMs);

  test("is over the bytes as they came, by any of the keys", () => {
    expect(verify(sign(raw, nowMs))).toEqual({ kind: "valid", key });
    expect(verify(sign(raw, nowMs), Buffer.from(raw))).toEqual({ kind: "valid", key });
    const old = "ffff";
    expect(verify(sign(raw, nowMs, old), raw, [`signkey-prod-${key}`, old])).toEqual({ kind: "valid", key: old });
  });

  test("holds for 300 s either way, and not a second longer", () => {
    for (const offMs of [300_000, -300_000]) expect(verify(sign(raw, nowMs + offMs)).kind).toBe("valid");
    for (const offMs of [301_000, -301_000]) expect(verify(sign(raw, nowMs + offMs)).kind).toBe("refused");
  });

  test("is refused for another body, time or key, with the reason", () => {
    const good = sign(raw, nowMs);
    expect(verify(good, `${raw} `)).toEqual({ kind: "refused", why: "its signature was made with another key" });
    expect(verify(good.replace("t=1700000000", "t=1700000001")).kind).toBe("refused");
    expect(verify(good, raw, ["ffff"]).kind).toBe("refused");
    expect(verify(good, raw, []).kind).toBe("refused");
    expect(verify(sign(raw, nowMs - 600_000))).toMatchObject({ why: expect.stringContaining("600 s old") });
    expect(verify(undefined)).toEqual({ kind: "refused", why: "it is not signed" });
  });

  test("has one form of its time: digits cannot move from the end of a body into it, nor be written another way", () => {
    const signed = (text: string) => createHmac("sha256", key).update(text).digest("hex");
    // Nothing is between body and time in what is signed: "100" and 1700000000 are the bytes of "1" and 001700000000.
    const whole = signed("1001700000000");
    expect(verifySignature(`t=1700000000&s=${whole}`, "100", [key], nowMs).kind).toBe("valid");
    for (const [shorter, t] of [
      ["10", "01700000000"],
      ["1", "001700000000"],
      ["1001", "700000000"],
      ["", "1001700000000"],
    ]) {
      expect(verifySignature(`t=${t}&s=${whole}`, shorter!, [key], nowMs).kind, t).toBe("refused");
    }
    const s = signed(`${body}1700000000`);
    for (const header of [
      `t=+1700000000&s=${s}`,
      `t=1700000000.0&s=${s}`,
      `t=17e8&s=${s}`,
      `t=%31700000000&s=${s}`,
      `t=1700000000&t=1700000000&s=${s}`,
      `t=1700000000&s=${s}&s=${s}`,
      `s=${s}&t=1700000000`,
      ` t=1700000000&s=${s}`,
      `t=1700000000&s=${s}&`,
      `t=-1700000000&s=${s}`,
      `t=\u0661700000000&s=${s}`,
    ]) {
      expect(verifySignature(header, body, [key], nowMs).kind, header).toBe("refused");
    }
  });

  test("whatever is sent instead of one is refused", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constant("t=&s="), fc.constant(`t=1&s=${"f".repeat(64)}`)), (header) => {
        expect(verify(header).kind).toBe("refused");
      }),
    );
  });
});
