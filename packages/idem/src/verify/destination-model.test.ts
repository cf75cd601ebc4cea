import { expect, test } from "vitest";
import { DestinationModel, withNested } from "./destination-model.ts";
import type { Json } from "./thing.ts";

const model = (given: { status?: number; body?: Json } | null = null) =>
  new DestinationModel({ now: () => 0, hostOf: () => null, assume: () => {}, given: () => given });

const asked = (method: string, path: string, body = "", type = "application/json") => ({
  method,
  url: new URL(path, "https://api.example"),
  headers: { "content-type": type },
  body,
});
const maker = { fn: null, effect: 1 };

test("an answer that nobody gave is made up of what was sent, a form's brackets as the records they mean", () => {
  const form = "customer=c3&metadata[order]=7&lines[0][sku]=a&lines[1][sku]=b&tags[]=x";
  const { body, isMadeUp } = model().ask(
    asked("POST", "/v1/invoices", form, "application/x-www-form-urlencoded"),
    maker,
  );
  expect(isMadeUp).toBe(true);
  expect(JSON.parse(body)).toEqual({
    created: 0,
    customer: "c3",
    metadata: { order: "7" },
    lines: [{ sku: "a" }, { sku: "b" }],
    tags: ["x"],
    id: "invoices_made_1",
  });
  expect(withNested({ "7": 1, "a[b": 2 })).toEqual({ "7": 1, "a[b": 2 });
});

test("what somebody gave, and what a destination refuses, is not made up", () => {
  const made = (given: { status?: number; body?: Json } | null, method: string) =>
    model(given).ask(asked(method, "/v1/things/1", "{}"), maker).isMadeUp;
  expect(["GET", "POST", "PUT"].map((method) => made({ body: { plan: "gold" } }, method))).toEqual([
    false,
    false,
    false,
  ]);
  expect(["GET", "POST", "PUT"].map((method) => made(null, method))).toEqual([true, true, true]);
  expect(made({ status: 202 }, "POST")).toBe(true);
  const gone = model();
  gone.ask(asked("DELETE", "/v1/things/1"), maker);
  expect(gone.ask(asked("GET", "/v1/things/1"), maker)).toMatchObject({ status: 404, isMadeUp: false });
});

test("whoever asks for a token is given one, and nothing is left of it", () => {
  const tokens = model();
  const said = tokens.ask(
    asked("POST", "/oauth/token", "grant_type=client_credentials", "application/x-www-form-urlencoded"),
    maker,
  );
  expect(JSON.parse(said.body)).toMatchObject({ access_token: expect.any(String), token_type: "Bearer" });
  expect(tokens.things()).toEqual([]);
});
