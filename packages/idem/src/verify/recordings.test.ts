// Recordings of a sandbox's answers.
import { expect, test } from "vitest";
import {
  mergeRecordings,
  readHost,
  readRecordings,
  recordedOf,
  secretsOf,
  withoutSecrets,
  writeRecordings,
} from "./recordings.ts";

const asked = { method: "GET", url: new URL("https://api.example.com/v1/customers/c3?token=abc") };

test("a recording holds no secret: neither by its name, nor by its look, nor by the environment's value", () => {
  const body = {
    id: "c3",
    client_secret: "whatever",
    note: "use sk_test_abcdefgh12345 or Bearer abcdefgh.ijkl",
    nested: [{ text: "hunter22hunter22 is ours" }],
  };
  const secrets = secretsOf({ DB_PASSWORD: "hunter22hunter22", HOME: "/home/somebody" });
  const text = writeRecordings([withoutSecrets(recordedOf(asked, { status: 200, body }), secrets)]);
  for (const secret of ["whatever", "sk_test", "hunter22", "abcdefgh", "token=abc"]) expect(text).not.toContain(secret);
  expect(readRecordings(JSON.parse(text))).toMatchObject([
    { body: { id: "c3", nested: [{ text: "‹redacted› is ours" }] } },
  ]);
});

test("an answer that was recorded for one thing is given for its twin", () => {
  expect(recordedOf(asked, { status: 200, body: null })).toMatchObject({
    host: "api.example.com",
    path: "/v1/customers/*",
  });
});

test("a question that is asked again has its newest answer, and an answer for one address goes before one for any", () => {
  const of = (path: string, body: string) => ({ method: "GET", host: "crm.example", path, status: 200, body });
  const before = [of("/clients/*", "old"), of("/rates", "kept")];
  expect(mergeRecordings(before, [of("/clients/*", "new"), of("/clients/me", "mine")])).toEqual([
    of("/clients/me", "mine"),
    of("/rates", "kept"),
    of("/clients/*", "new"),
  ]);
});

test("a file that is no recording is refused with what is wrong", () => {
  expect(readRecordings({ version: 2 })).toBe("it is no recording of version 1");
  expect(readRecordings(null)).toBe("it is no recording of version 1");
  expect(readRecordings({ version: 1, answers: [{ method: "GET" }] })).toBe("answer 1 has no method, host or path");
});

test.each([
  ["sandbox.example", "sandbox.example"],
  ["Sandbox.Example:443", "sandbox.example"],
  ["localhost:4010", "localhost:4010"],
  ["[::1]:4010", "[::1]:4010"],
  ["https://sandbox.example", null],
  ["sandbox.example/v1", null],
  ["*.example", null],
  ["user@sandbox.example", null],
  ["sandbox.example:99999", null],
  ["", null],
])("%s is the host %s", (text, host) => {
  expect(readHost(text)).toBe(host);
});
