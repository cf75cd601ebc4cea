// Recordings of a sandbox's answers.
import { expect, test } from "vitest";
import { readRecordings, recordedOf, secretsOf, writeRecordings } from "./recordings.ts";

const asked = { method: "GET", url: new URL("https://api.example.com/v1/customers/c3?token=abc") };

test("a recording holds no secret: neither by its name, nor by its look, nor by the environment's value", () => {
  const body = {
    id: "c3",
    client_secret: "whatever",
    note: "use sk_test_abcdefgh12345 or Bearer abcdefgh.ijkl",
    nested: [{ text: "hunter22hunter22 is ours" }],
  };
  const secrets = secretsOf({ DB_PASSWORD: "hunter22hunter22", HOME: "/home/somebody" });
  const text = writeRecordings([recordedOf(asked, { status: 200, body })], secrets);
  for (const secret of ["whatever", "sk_test", "hunter22", "abcdefgh", "token=abc"]) expect(text).not.toContain(secret);
  expect(readRecordings(text)[0]!.body).toMatchObject({ id: "c3", nested: [{ text: "‹redacted› is ours" }] });
});

test("an answer that was recorded for one thing is given for its twin", () => {
  expect(recordedOf(asked, { status: 200, body: null })).toMatchObject({
    host: "api.example.com",
    path: "/v1/customers/*",
  });
});

test("a file that is no recording is refused with what is wrong", () => {
  expect(() => readRecordings('{"version":2}')).toThrow("no recording of version 1");
  expect(() => readRecordings('{"version":1,"answers":[{"method":"GET"}]}')).toThrow(
    "answer 1 has no method, host or path",
  );
});
