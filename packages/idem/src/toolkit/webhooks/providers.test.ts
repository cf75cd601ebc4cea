// Published and independently computed vectors, forward (we sign) and backward (we verify), then everything that is almost one of them.
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { WebhookProvider } from "./provider.ts";
import { providerNamed, providerNames } from "./provider-named.ts";
import { genericHmac } from "./providers/generic-hmac.ts";
import { github } from "./providers/github.ts";
import { linear } from "./providers/linear.ts";
import { paddle } from "./providers/paddle.ts";
import { shopify } from "./providers/shopify.ts";
import { slack } from "./providers/slack.ts";
import { standardWebhooks, svix } from "./providers/standard-webhooks.ts";
import { stripe } from "./providers/stripe.ts";
import { twilio } from "./providers/twilio.ts";
import { signWebhook } from "./sign-webhook.ts";

const body = '{"id":"evt_1","amount":1200}';
const stamp = 1_700_000_000;
const at = stamp * 1_000;
const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const whpk = "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
const callUrl = "https://mycompany.com/myapp.php?foo=1&bar=2";
const call = "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212";

interface Vector {
  readonly provider: WebhookProvider;
  readonly other: WebhookProvider;
  readonly secret: string;
  readonly body: string;
  readonly url?: string;
  readonly id?: string;
  readonly at?: number;
  readonly headers: Readonly<Record<string, string>>;
}

const both = (
  make: (options: { secrets: string[] }) => WebhookProvider,
  secret: string,
  otherSecret = "another_secret",
) => ({ provider: make({ secrets: [secret] }), other: make({ secrets: [otherSecret] }), secret, body });

const vectors: readonly (readonly [string, Vector])[] = [
  [
    "GitHub, published",
    {
      ...both(github, "It's a Secret to Everybody"),
      body: "Hello, World!",
      headers: {
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
      },
    },
  ],
  [
    "Standard Webhooks, published",
    {
      ...both(standardWebhooks, whsec, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"),
      body: '{"test": 2432232314}',
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      at: 1_614_265_330_000,
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
    },
  ],
  [
    "Standard Webhooks",
    {
      ...both(standardWebhooks, whsec, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"),
      id: "msg_1",
      headers: {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(stamp),
        "webhook-signature": "v1,UxA/W/ikmRNyNyK93PjgEPX8BTu22pLf9pJ1bokMwAM=",
      },
    },
  ],
  [
    "Svix",
    {
      ...both(svix, whsec, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"),
      id: "msg_1",
      headers: {
        "svix-id": "msg_1",
        "svix-timestamp": String(stamp),
        "svix-signature": "v1,UxA/W/ikmRNyNyK93PjgEPX8BTu22pLf9pJ1bokMwAM=",
      },
    },
  ],
  [
    "Twilio, published",
    {
      ...both(twilio, "12345"),
      body: call,
      url: callUrl,
      headers: { "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=" },
    },
  ],
  [
    "Stripe",
    {
      ...both(stripe, "whsec_test_secret"),
      headers: {
        "stripe-signature": `t=${stamp},v1=cf22985322da653a369ff763712b6772596c204c3cf85719e3e2a3b5192dbdc6`,
      },
    },
  ],
  [
    "Slack",
    {
      ...both(slack, "test_secret"),
      headers: {
        "x-slack-request-timestamp": String(stamp),
        "x-slack-signature": "v0=af71b11e26514ec55497e6d25955f7a7beb1c9b9ff12fe2569517d823b89acae",
      },
    },
  ],
  [
    "Shopify",
    {
      ...both(shopify, "test_secret"),
      headers: { "x-shopify-hmac-sha256": "F8CDDil/XGbzRyEkaRhEOe7CG7Y3SgsydM07gHqVeJQ=" },
    },
  ],
  [
    "Linear",
    {
      ...both(linear, "test_secret"),
      headers: {
        "linear-timestamp": String(at),
        "linear-signature": "17c0830e297f5c66f347212469184439eec21bb6374a0b3274cd3b807a957894",
      },
    },
  ],
  [
    "Paddle",
    {
      ...both(paddle, "test_secret"),
      headers: {
        "paddle-signature": `ts=${stamp};h1=7f7d0e925ca416fc88cc20db634730aec861bf0e75e139109536eca1d32350f2`,
      },
    },
  ],
];

const delivery = ({ headers, body, url }: Pick<Vector, "headers" | "body" | "url">) => ({
  headers: new Headers(headers),
  bytes: Buffer.from(body),
  url: url ?? "https://localhost/hook",
});

const isVerified = (provider: WebhookProvider, vector: Pick<Vector, "headers" | "body" | "url">, now = at) =>
  provider.verify(delivery(vector), now).kind === "verified";

describe.each(vectors)("%s", (_name, vector) => {
  const { provider, other, secret, id = "msg_1", at: signedAt = at, url = "https://localhost/hook" } = vector;
  const signatureName = Object.keys(vector.headers).find((name) => /signature|hmac/.test(name))!;
  const isTimed = /stripe|slack|linear|paddle|standard|svix/.test(provider.name);

  test("the vector is what signing gives", () => {
    const signed = provider.sign({ secret, bytes: Buffer.from(vector.body), url, id, type: null, at: signedAt });
    expect(signed.headers).toMatchObject(vector.headers);
  });

  test("the vector is verified, by that secret and no other, and one changed byte is refused", () => {
    expect(provider.verify(delivery(vector), signedAt)).toEqual({ kind: "verified" });
    expect(other.verify(delivery(vector), signedAt)).toEqual({ kind: "refused", why: "mismatch" });
    const changed = { ...vector, body: vector.body.replace("1", "2") };
    expect(provider.verify(delivery({ ...changed, body: `${changed.body} ` }), signedAt)).toMatchObject({
      kind: "refused",
    });
  });

  test("a signature that is missing, repeated, cut, prolonged or in another alphabet is refused", () => {
    const given = vector.headers[signatureName]!;
    const without = { ...vector.headers };
    delete without[signatureName];
    expect(provider.verify(delivery({ ...vector, headers: without }), signedAt)).toEqual({
      kind: "refused",
      why: "missing",
    });
    for (const wrong of [
      `${given}, ${given}`,
      given.slice(0, -2),
      `${given}00`,
      given.toUpperCase().replace(/[A-Z]/g, "Z"),
      "x",
      `${given} ${"v1,AAAA ".repeat(20)}`,
      "=".repeat(9_000),
    ]) {
      const verdict = provider.verify(
        delivery({ ...vector, headers: { ...vector.headers, [signatureName]: wrong } }),
        at,
      );
      expect([wrong.slice(0, 20), verdict.kind]).toEqual([wrong.slice(0, 20), "refused"]);
    }
    const repeated = delivery(vector);
    repeated.headers.append(signatureName, given);
    expect(provider.verify(repeated, signedAt)).toEqual({ kind: "refused", why: "malformed" });
  });

  test(isTimed ? "a time too far back or too far ahead is stale" : "no time is signed, so none is stale", () => {
    const verdict = isTimed ? { kind: "refused", why: "stale" } : { kind: "verified" };
    for (const off of [-3_600_000, 3_600_000, -400_000, 400_000]) {
      expect(provider.verify(delivery(vector), signedAt + off)).toEqual(verdict);
    }
    for (const off of [-50_000, 50_000]) {
      expect(provider.verify(delivery(vector), signedAt + off)).toEqual({ kind: "verified" });
    }
  });
});

test("an Ed25519 signature is verified with the public key, and by configuration only", () => {
  const signature = "v1a,P7ro7KAaZmh2acYLezhc4Zl7+GxECSby3a8yavEdQXbGlOwMN3+u5aZpqYD+5OAnzAik6DGe3YpgctGi0e19Cw==";
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(stamp), "webhook-signature": signature };
  expect(isVerified(standardWebhooks({ secrets: [whpk] }), { headers, body })).toBe(true);
  expect(isVerified(standardWebhooks({ secrets: [whpk] }), { headers, body: `${body} ` })).toBe(false);
  expect(isVerified(standardWebhooks({ secrets: [whsec] }), { headers, body })).toBe(false);
  expect(isVerified(standardWebhooks({ secrets: [whsec, whpk] }), { headers, body })).toBe(true);
  // The other scheme's name in front of it changes nothing.
  const renamed = { ...headers, "webhook-signature": signature.replace("v1a,", "v1,") };
  expect(isVerified(standardWebhooks({ secrets: [whpk, whsec] }), { headers: renamed, body })).toBe(false);
});

test("an Ed25519 delivery of a test is signed with the private key", async () => {
  // RFC 8032, test 1: seed and public key.
  const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
  const key = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
  const provider = standardWebhooks({ secrets: [`whpk_${key.toString("base64")}`] });
  const request = signWebhook(provider, `whsk_${seed.toString("base64")}`, body, { at });
  const { headers, url } = request;
  expect(provider.verify({ headers, url, bytes: new Uint8Array(await request.arrayBuffer()) }, at).kind).toBe(
    "verified",
  );
});

// Row 32 of the pitfalls.
describe("two secrets, two signatures", () => {
  const [old, current, third] = [
    whsec,
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
    "whsec_FxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA",
  ];
  const schemes = [
    {
      make: (secrets: string[]) => stripe({ secrets }),
      of: (...secrets: string[]) => ({
        "stripe-signature": `t=${stamp},${secrets.map((secret) => `v1=${createHmac("sha256", secret).update(`${stamp}.${body}`).digest("hex")}`).join(",")}`,
      }),
    },
    {
      make: (secrets: string[]) => paddle({ secrets }),
      of: (...secrets: string[]) => ({
        "paddle-signature": `ts=${stamp};${secrets.map((secret) => `h1=${createHmac("sha256", secret).update(`${stamp}:${body}`).digest("hex")}`).join(";")}`,
      }),
    },
    {
      make: (secrets: string[]) => standardWebhooks({ secrets }),
      of: (...secrets: string[]) => ({
        "webhook-id": "m",
        "webhook-timestamp": String(stamp),
        "webhook-signature": secrets
          .map((secret) => Buffer.from(secret.slice(6), "base64"))
          .map((key) => `v1,${createHmac("sha256", key).update(`m.${stamp}.${body}`).digest("base64")}`)
          .join(" "),
      }),
    },
  ];
  test.each(schemes)("old, new, both, in any order; a third is refused ($make)", ({ make, of }) => {
    for (const provider of [make([old, current]), make([current, old])]) {
      for (const signers of [[old], [current], [old, current], [current, old], [third, old], [old, third]]) {
        expect(isVerified(provider, { headers: of(...signers), body })).toBe(true);
      }
      expect(isVerified(provider, { headers: of(third), body })).toBe(false);
      expect(isVerified(provider, { headers: of(third, third), body })).toBe(false);
    }
    expect(isVerified(make([current]), { headers: of(old, current), body })).toBe(true);
    expect(isVerified(make([current]), { headers: of(current, old), body })).toBe(true);
  });
});

// Row 33 of the pitfalls.
test("whsec_ means two things: Stripe's whole string and the decoded bytes of the others are never taken for each other", () => {
  const whole = whsec;
  const decoded = Buffer.from(whsec.slice(6), "base64");
  const hex = (key: string | Buffer) => createHmac("sha256", key).update(`${stamp}.${body}`).digest("hex");
  const base64 = (key: string | Buffer) => createHmac("sha256", key).update(`m.${stamp}.${body}`).digest("base64");
  const asStripe = (key: string | Buffer) => ({ body, headers: { "stripe-signature": `t=${stamp},v1=${hex(key)}` } });
  const asStandard = (key: string | Buffer) => ({
    body,
    headers: { "webhook-id": "m", "webhook-timestamp": String(stamp), "webhook-signature": `v1,${base64(key)}` },
  });
  expect(isVerified(stripe({ secrets: [whsec] }), asStripe(whole))).toBe(true);
  expect(isVerified(stripe({ secrets: [whsec] }), asStripe(decoded))).toBe(false);
  expect(isVerified(standardWebhooks({ secrets: [whsec] }), asStandard(decoded))).toBe(true);
  expect(isVerified(standardWebhooks({ secrets: [whsec] }), asStandard(whole))).toBe(false);
});

test("a body that is no text is verified as the bytes it is", () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
  for (const name of providerNames) {
    if (name === "twilio") continue;
    const secret = /standard|svix|resend|clerk/.test(name) ? whsec : "test_secret";
    const provider = providerNamed(name, { secrets: [secret] });
    const { headers, url } = provider.sign({ secret, bytes, url: "https://localhost/", id: "m", type: null, at });
    expect([name, provider.verify({ headers: new Headers(headers), url, bytes }, at)]).toEqual([
      name,
      { kind: "verified" },
    ]);
  }
});

test("a time is plain digits: what only begins like a number is refused though the signature covers it", () => {
  for (const text of [`${stamp}junk`, ` ${stamp}`, `0${stamp}`, `+${stamp}`, "1.7e9", `${stamp}.0`, "", "-1"]) {
    const signature = createHmac("sha256", Buffer.from(whsec.slice(6), "base64")).update(`m.${text}.${body}`);
    const headers = {
      "webhook-id": "m",
      "webhook-timestamp": text,
      "webhook-signature": `v1,${signature.digest("base64")}`,
    };
    expect([text, isVerified(standardWebhooks({ secrets: [whsec] }), { headers, body })]).toEqual([text, false]);
  }
  const twice = createHmac("sha256", "s").update(`${stamp}.${body}`).digest("hex");
  const headers = { "stripe-signature": `t=${stamp - 1},t=${stamp},v1=${twice}` };
  expect(isVerified(stripe({ secrets: ["s"] }), { headers, body })).toBe(false);
});

test("Stripe's v0 signs nothing", () => {
  const v0 = createHmac("sha256", "s").update(`${stamp}.${body}`).digest("hex");
  expect(isVerified(stripe({ secrets: ["s"] }), { headers: { "stripe-signature": `t=${stamp},v0=${v0}` }, body })).toBe(
    false,
  );
});

test("a secret that is empty, blank, or was copied with a line's end is refused at the start, and never told", () => {
  for (const name of providerNames) {
    for (const secret of ["", " ", "\n", "secret\n", " secret", "sec\tret", "sec\nret"]) {
      expect(() => providerNamed(name, { secrets: [secret] })).toThrow(
        expect.objectContaining({ code: "TOOLKIT_OPTION_INVALID", message: expect.not.stringContaining("secret\n") }),
      );
    }
    expect(() => providerNamed(name, { secrets: [] })).toThrow(/at least one secret/);
    expect(() => providerNamed(name, {} as never)).toThrow(/at least one secret/);
  }
  expect(() => standardWebhooks({ secrets: ["whsec_short"] })).toThrow(/base64|bytes/);
  expect(() => standardWebhooks({ secrets: ["c2VjcmV0"] })).toThrow(/whsec_/);
});

describe("Twilio", () => {
  const provider = twilio({ secrets: ["12345"] });

  test("a JSON body is covered by the address's bodySHA256, and without it by nothing: then it is refused", async () => {
    const request = signWebhook(provider, "12345", body, { url: "https://mycompany.com/hook?a=1", at });
    const { headers, url } = request;
    expect(url).toContain("bodySHA256=");
    expect(isVerified(provider, { headers: Object.fromEntries(headers), body, url })).toBe(true);
    expect(isVerified(provider, { headers: Object.fromEntries(headers), body: `${body} `, url })).toBe(false);
    const bare = createHmac("sha1", "12345").update("https://mycompany.com/hook").digest("base64");
    const wrong = { headers: { "x-twilio-signature": bare, "content-type": "application/json" }, body };
    expect(isVerified(provider, { ...wrong, url: "https://mycompany.com/hook" })).toBe(false);
  });

  test("the address counts with and without its default port, and behind a proxy it is the public one", () => {
    const headers = { "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=" };
    const url = callUrl.replace(".com/", ".com:443/");
    expect(isVerified(provider, { headers, body: call, url })).toBe(true);
    expect(isVerified(provider, { headers, body: call, url: callUrl.replace(".com/", ".com:8443/") })).toBe(false);
    const proxied = twilio({ secrets: ["12345"], publicUrl: "https://mycompany.com/myapp.php" });
    expect(isVerified(proxied, { headers, body: call, url: "http://10.0.0.7:3000/hook?foo=1&bar=2" })).toBe(true);
    expect(isVerified(provider, { headers, body: call, url: "http://10.0.0.7:3000/hook?foo=1&bar=2" })).toBe(false);
  });
});

describe("a form, before its signature is known,", () => {
  const provider = twilio({ secrets: ["12345"] });
  const verdictOf = (count: number) => {
    const bytes = Buffer.from(Array.from({ length: count }, (_, i) => `f${i}=${i}`).join("&"));
    const signed = Array.from({ length: count }, (_, i) => `f${i}${i}`).sort((x, y) =>
      nameIn(x) < nameIn(y) ? -1 : 1,
    );
    const signature = createHmac("sha1", "12345")
      .update(callUrl + signed.join(""))
      .digest("base64");
    return provider.verify({ headers: new Headers({ "x-twilio-signature": signature }), bytes, url: callUrl }, at);
  };
  /** The field f12 of value 12 is signed as f1212. */
  const nameIn = (text: string) => text.slice(0, 1 + (text.length - 1) / 2);

  test("may have 1,000 fields; of more it is refused unread, because sorting them would hold the process for seconds", () => {
    expect(verdictOf(1_000)).toEqual({ kind: "verified" });
    for (const count of [1_002, 20_000]) expect(verdictOf(count)).toEqual({ kind: "refused", why: "malformed" });
  });
});

describe("the content type, which nobody signs,", () => {
  // A person can write any text into an issue or a message. A recorded delivery of it must not become what that text says.
  const text = '&payload={"type":"block_actions","action":"opened","ref":"forged"}&';
  const form = { "content-type": "application/x-www-form-urlencoded" };

  test.each([
    ["GitHub", github({ secrets: ["s"] })],
    ["Slack", slack({ secrets: ["s"] })],
  ])("does not make a form of the JSON %s signed, nor JSON of its form", (_name, provider) => {
    const parsed = (body: string, headers: Record<string, string>) =>
      provider.parse({ headers: new Headers(headers), bytes: Buffer.from(body), url: callUrl });
    const json = JSON.stringify({ type: "message", text });
    expect(parsed(json, form)).toEqual({ type: "message", text });
    expect(parsed(`\n ${json}`, form)).toEqual({ type: "message", text });
    const sent = `payload=${encodeURIComponent('{"type":"genuine"}')}`;
    expect(parsed(sent, form)).toEqual({ type: "genuine" });
    expect(parsed(sent, { "content-type": "application/json" })).toEqual({ type: "genuine" });
  });
});

describe("Linear", () => {
  test("the signed time of the body counts, whatever the header says", () => {
    const old = JSON.stringify({ type: "Issue", webhookTimestamp: at - 600_000 });
    const signature = createHmac("sha256", "s").update(old).digest("hex");
    const headers = { "linear-signature": signature, "linear-timestamp": String(at) };
    expect(linear({ secrets: ["s"] }).verify(delivery({ headers, body: old }), at)).toEqual({
      kind: "refused",
      why: "stale",
    });
  });
});

describe("generic HMAC", () => {
  const options = {
    secrets: ["s"],
    header: "x-signature",
    prefix: "sha512=",
    algorithm: "sha512",
    encoding: "base64",
    timestampHeader: "x-time",
    idHeader: "x-id",
    signed: "{id}:{timestamp}:{body}",
  } as const;

  test("what a delivery says is verified as it was configured", async () => {
    const provider = genericHmac(options);
    const { headers, url } = signWebhook(provider, "s", body, { at, id: "7" });
    const given = { headers: Object.fromEntries(headers), body, url };
    expect(isVerified(provider, given)).toBe(true);
    expect(isVerified(provider, given, at + 301_000)).toBe(false);
    expect(isVerified(provider, { ...given, headers: { ...given.headers, "x-id": "8" } })).toBe(false);
    expect(provider.read(delivery(given), {})).toMatchObject({ id: "7" });
  });

  test("a time that is not signed, and a body that is not, are refused at the start", () => {
    expect(() => genericHmac({ ...options, signed: "{id}:{body}" })).toThrow(/not part of what is signed/);
    expect(() => genericHmac({ ...options, signed: "{id}:{timestamp}" })).toThrow(/any body would do/);
  });
});

test("every provider says how long it waits and how long an id is remembered: longer than any of them delivers again", () => {
  for (const name of providerNames) {
    const provider = providerNamed(name, { secrets: [whsec] });
    expect(provider.ackMs).toBeGreaterThanOrEqual(3_000);
    expect(provider.windowMs).toBe(35 * 86_400_000);
  }
});
