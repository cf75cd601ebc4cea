import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { KeylessDestination } from "./destination.ts";
import { destinationAt } from "./destination-hosts.ts";
import { destinationKey } from "./destination-key.ts";
import { destination, destinationNames, type KeylessName } from "./destinations.ts";

const key = destinationKey({ env: "default", fn: "shop-pay", subject: "7", generation: "g" }, "pay", 0);
const keylessNames: readonly KeylessName[] = ["aws/ses", "postmark", "sendgrid", "twilio", "slack", "github"];
const keyed = destinationNames.filter((name) => !(keylessNames as readonly string[]).includes(name));
const charsets = { base64url: /^[A-Za-z0-9_-]+$/, "a-z0-9-": /^[a-z0-9-]+$/ };

describe("every destination of the registry", () => {
  test.each(keyed)("%s is given a key it can hold, the same every time", (name) => {
    const to = destination(name as "stripe");
    const given = to.key({ key });
    expect(given.length).toBeLessThanOrEqual(Math.min(to.maxLength, 45));
    expect(given).toMatch(charsets[to.charset]);
    expect(to.key(key)).toBe(given);
    expect({ ...to.headers(key), ...to.fields(key) }).toEqual({ [to.place.name]: given });
  });

  test.each(keyed)("%s keeps two steps, and two accounts of one step, apart", (name) => {
    const to = destination(name as "stripe");
    const others = [
      to.key(key),
      to.key(`${key.slice(0, -1)}x`),
      to.key(key, "acct_1"),
      to.key(key, "acct_2"),
      to.key(key, ""),
    ];
    expect(new Set(others).size).toBe(5);
    for (const other of others) expect(other.length).toBeLessThanOrEqual(to.maxLength);
  });

  test("has a name that can stand in a scope", () => {
    for (const name of destinationNames) expect(name).toMatch(/^[a-z0-9][a-z0-9./-]*$/);
  });
});

test("the step's own key is sent as it is wherever it fits", () => {
  expect(destination("stripe").headers({ key })).toEqual({ "Idempotency-Key": key });
  expect(destination("square").fields({ key })).toEqual({ idempotency_key: key });
  expect(destination("stripe").fields({ key })).toEqual({});
  expect(destination("square").headers({ key })).toEqual({});
  expect(key).toHaveLength(45);
});

test("where letters have no case or there is less room, a key is derived that has only small letters, digits and dashes", () => {
  expect(destination("aws/cloudformation").key({ key })).toMatch(/^idem-[a-z2-7]{32}$/);
  expect(destination("aws/ecs").key({ key })).toMatch(/^idem[a-z2-7]{32}$/);
  // Keys that differ in the case of one letter only are two keys there, too.
  const to = destination("aws/cloudformation");
  expect(to.key("Abc")).not.toBe(to.key("abc"));
  expect(to.key("abc")).toBe("abc");
});

test.each([
  ["api.stripe.com", "stripe"],
  ["k8vbyx3e.api.checkout.com", "checkout"],
  ["k8vbyx3e.api.sandbox.checkout.com", "checkout"],
  ["1797a841fbb37ca7-AdyenDemo-checkout-live.adyenpayments.com", "adyen"],
  ["api.paypal.com", "paypal"],
  ["api.eu.nylas.com", "nylas"],
  ["thirdparty-sandbox.staging.qonto.co", "qonto"],
  ["sqs.eu-central-1.amazonaws.com", "aws/sqs"],
  ["sqs-fips.us-east-1.amazonaws.com", "aws/sqs"],
  ["sqs.us-east-2.api.aws", "aws/sqs"],
  ["sqs.cn-north-1.amazonaws.com.cn", "aws/sqs"],
  ["email.eu-west-1.amazonaws.com", "aws/ses"],
  ["email-fips.us-west-2.api.aws", "aws/ses"],
  ["api.eu.sendgrid.com", "sendgrid"],
  ["verify.twilio.com", "twilio"],
  ["api.dublin.ie1.twilio.com", "twilio"],
  ["api.octocorp.ghe.com", "github"],
  ["sqs.eu-central-1.amazonaws.com.evil.example", null],
  ["notapi.checkout.com", null],
  ["s3.eu-central-1.amazonaws.com", null],
])("%s belongs to %s", (host, name) => {
  expect(destinationAt(host)?.name ?? null).toBe(name);
});

test("docs/destinations.md has a row for every name", () => {
  const page = readFileSync(new URL("../../../../docs/destinations.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual([...destinationNames].sort());
});

test("lengths and memories are those the providers publish", () => {
  const hour = 3_600_000;
  const facts = (name: "stripe") => [destination(name).maxLength, (destination(name).remembersMs ?? -hour) / hour];
  expect(facts("stripe")).toEqual([255, 24]);
  expect(facts("stripe/v2" as "stripe")).toEqual([255, 720]);
  expect(facts("resend" as "stripe")).toEqual([256, 24]);
  expect(facts("square" as "stripe")).toEqual([45, -1]);
  expect(facts("square/orders" as "stripe")).toEqual([192, -1]);
  expect(facts("paypal/orders" as "stripe")).toEqual([108, 6]);
  expect(facts("paypal/vault" as "stripe")).toEqual([78, 3]);
  expect(facts("paypal/payments" as "stripe")).toEqual([78, 45 * 24]);
  expect(facts("adyen" as "stripe")).toEqual([64, 31 * 24]);
  expect(facts("qonto" as "stripe")).toEqual([255, 0.5]);
  expect(destination("paypal/orders-v1").remembersMs).toBe(Number.POSITIVE_INFINITY);
});

describe("a destination that takes no key", () => {
  test.each(keylessNames)("%s gives none, and says what to do instead", (name) => {
    const to = destination(name);
    expectTypeOf(to).toEqualTypeOf<KeylessDestination>();
    // @ts-expect-error there is no key to ask for
    const ask = () => to.key({ key });
    expect(ask).toThrow(/step\.effect.*sent-log.*DESTINATION_KEYLESS/);
  });
});

describe("a destination of one's own", () => {
  test("is described by name, header, length and memory", () => {
    const bank = destination({ name: "my-bank", header: "X-Request-Id", maxLength: 40, remembers: "2h" });
    expect(bank).toMatchObject({ name: "my-bank", remembersMs: 7_200_000, maxLength: 40 });
    expect(bank.headers({ key })).toEqual({ "X-Request-Id": expect.stringMatching(/^idem-[a-z2-7]{32}$/) });
    expect(destination({ name: "other", field: "request_id" }).fields({ key })).toEqual({ request_id: key });
    expect(destination({ name: "other" })).toMatchObject({ remembersMs: null, maxLength: 255 });
  });

  test("that cannot be used is refused where it is written", () => {
    const wrong: [Parameters<typeof destination>[0] | object, RegExp][] = [
      [{ name: "stripe" }, /known here already/],
      [{ name: "A b" }, /lower-case/],
      [{ name: "a:b" }, /lower-case/],
      [{ name: "a", maxLength: 20 }, /at least 36/],
      [{ name: "a", header: "x", field: "y" }, /one place/],
      [{ name: "a", header: "x\r\ny" }, /name of letters/],
      [{ name: "a", charset: "hex" }, /charset/],
      [{ name: "a", remembers: "soon" }, /soon/],
    ];
    for (const [given, why] of wrong) expect(() => destination(given as never)).toThrow(why);
    expect(() => destination("stripes" as never)).toThrow(/none of stripe, /);
    expect(() => destination("stripe").key({ key: "" })).toThrow(/TOOLKIT_OPTION_INVALID/);
  });
});
