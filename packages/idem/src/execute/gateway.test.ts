import { expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import { fetchAnswer, inferAnswer } from "./gateway.ts";

const named = { stepId: "s", name: "call", repeat: 0, race: false };
const fetchOp = {
  ...named,
  op: "fetch",
  url: "http://x.test/a?token=secret",
  method: "GET",
  headers: {},
  body: null,
} as const;
const inferOp = {
  ...named,
  op: "infer",
  url: "http://model.test/chat",
  headers: {},
  authKey: "sk-very-secret",
  format: "openai-chat",
  body: "{}",
} as const;
const { signal } = new AbortController();
const failing = (error: Error) => ({ fetch: () => Promise.reject(error) });

test("an address that may not be fetched is refused for good, not tried again", async () => {
  const refused = errors.APP_URL_REFUSED({ url: "http://x.test", why: "it is private" });
  await expect(fetchAnswer(fetchOp, failing(refused), signal, 10)).rejects.toBe(refused);
  await expect(inferAnswer(inferOp, failing(refused), signal, 10)).rejects.toBe(refused);
});

test("the reason of a failed request says neither its query nor a model's key", async () => {
  await expect(fetchAnswer(fetchOp, failing(new Error("refused")), signal, 10)).rejects.toThrow(
    "GET to x.test failed: refused",
  );
  const echoing = { fetch: async () => ({ status: 401, headers: {}, body: "bad key sk-very-secret given" }) };
  await expect(inferAnswer(inferOp, echoing, signal, 10)).rejects.toThrow("answered 401: bad key … given");
  await expect(
    inferAnswer({ ...inferOp, authKey: "" }, failing(new Error("no way there")), signal, 10),
  ).rejects.toThrow("could not be reached: no way there");
});
