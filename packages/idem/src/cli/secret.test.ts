import { expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { completeSettings } from "../server/settings.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const told = async (...words: string[]) => {
  const terminal = fakeTerminal({ cwd: "/", platform: nodePlatform });
  const code = await terminal.run("secret", ...words);
  return { code, ...terminal.written };
};

test("idem secret make prints one of each, as lines of an environment file, with which a server starts for others", async () => {
  const { code, out } = await told("make");
  expect(code).toBe(0);
  const made = Object.fromEntries(
    out
      .trim()
      .split("\n")
      .map((line) => line.split("=") as [string, string]),
  );
  expect(Object.keys(made)).toEqual(["IDEM_EVENT_KEY", "IDEM_SIGNING_KEY", "IDEM_PASSWORD", "IDEM_SECRET_KEY"]);
  const { IDEM_EVENT_KEY, IDEM_SIGNING_KEY, IDEM_PASSWORD } = made;
  const keys = { eventKeys: [IDEM_EVENT_KEY!], signingKeys: [IDEM_SIGNING_KEY!], password: IDEM_PASSWORD! };
  expect(completeSettings({ mode: "start", host: "0.0.0.0", ...keys })).toMatchObject(keys);
});

test.each([
  ["event-key", /^[0-9a-f]{32}$/],
  ["signing-key", /^signkey-prod-[0-9a-f]{64}$/],
  ["password", /^([2-9a-z]{4}-){7}[2-9a-z]{4}$/],
  ["secret-key", /^[0-9a-f]{64}$/],
])("idem secret make %s prints nothing but it, another each time", async (kind, pattern) => {
  const [first, second] = [await told("make", kind), await told("make", kind)];
  expect(first).toMatchObject({ code: 0, err: "" });
  expect(first.out.trimEnd()).toMatch(pattern);
  expect(second.out).not.toBe(first.out);
});

test("programs read one JSON document by the variables' names", async () => {
  expect(Object.keys(JSON.parse((await told("make", "--json")).out))).toHaveLength(4);
  expect(JSON.parse((await told("make", "password", "--json")).out)).toEqual({ IDEM_PASSWORD: expect.any(String) });
});

test.each([["show"], ["make", "passwort"]])("idem secret %s %s is refused with what there is", async (...words) => {
  const { code, out, err } = await told(...words);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(/secret make|password/);
});
