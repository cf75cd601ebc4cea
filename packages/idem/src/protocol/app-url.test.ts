import { expect, test } from "vitest";
import { canonicalAppUrl } from "./app-url.ts";

test.each([
  ["http://127.0.0.1:3000/api/inngest", "http://localhost:3000/api/inngest"],
  ["http://0.0.0.0:3000/api/inngest", "http://localhost:3000/api/inngest"],
  ["http://[::1]:3000/api/inngest", "http://localhost:3000/api/inngest"],
  ["HTTP://LOCALHOST:80/api/inngest", "http://localhost/api/inngest"],
  ["http://127.1:3000/x", "http://localhost:3000/x"],
  ["https://shop.example/api/inngest?fnId=a-b&stepId=step&deployId=d#x", "https://shop.example/api/inngest"],
  ["https://shop.example/api/inngest?tenant=7&fnId=a-b", "https://shop.example/api/inngest?tenant=7"],
  ["wss://connect/?fnId=a-b&stepId=step", "wss://connect/"],
])("one place has one URL: %s", (given, kept) => {
  expect(canonicalAppUrl(given)).toBe(kept);
  expect(canonicalAppUrl(kept)).toBe(kept);
});

test("what is no URL has none", () => {
  for (const text of ["", "/api/inngest", "http://", "http://a b"]) expect(canonicalAppUrl(text)).toBeNull();
});
