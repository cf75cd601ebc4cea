import { expect, test } from "vitest";
import { fakeTerminal } from "./fake-terminal.ts";
import { storeWorld } from "./store-world.ts";

test("a source is made, listed without its secret, rotated and removed with a reason", async () => {
  const { terminal, path, idem, stop } = storeWorld();
  await idem.start();
  await stop();
  const given = fakeTerminal({
    cwd: terminal.cwd,
    platform: terminal.platform,
    env: { IDEM_STORE: `sqlite:${path}`, WORD: "whsec_one", NEXT: "whsec_two" },
  });
  expect(await given.run("webhooks")).toBe(0);
  expect(given.written.err).toContain("No sources");
  expect(await given.run("webhooks", "add", "stripe", "--provider", "stripe", "--secret-env", "WORD")).toBe(0);
  expect(given.written.out).toContain("/w/stripe");
  expect(given.written.out + given.written.err).not.toContain("whsec_one");
  expect(await given.run("webhooks", "add", "stripe", "--provider", "stripe", "--secret-env", "NEXT")).not.toBe(0);
  expect(given.written.err).toContain("already a source");
  const [source] = await given.json("webhooks");
  expect(source).toMatchObject({ name: "stripe", provider: "stripe", secrets: [{ mark: expect.any(String) }] });
  expect(JSON.stringify(source)).not.toContain("whsec_one");
  expect(await given.run("webhooks", "rotate", "stripe", "--secret-env", "NEXT")).toBe(0);
  expect((await given.json("webhooks"))[0].secrets).toHaveLength(2);
  expect(await given.run("webhooks", "drop-old", "stripe")).toBe(0);
  expect((await given.json("webhooks"))[0].secrets).toHaveLength(1);
  expect(await given.run("webhooks", "remove", "stripe")).toBe(2);
  expect(await given.run("webhooks", "remove", "stripe", "--reason", "moved")).toBe(0);
  expect(await given.json("webhooks")).toEqual([]);
});

test("a secret that is made is shown once; one that cannot be made is asked for", async () => {
  const { terminal, idem, stop } = storeWorld();
  await idem.start();
  await stop();
  expect(await terminal.run("webhooks", "add", "ci", "--provider", "github")).toBe(0);
  const made = /secret: ([0-9a-f]{64})/.exec(terminal.written.out)![1]!;
  await terminal.run("webhooks");
  expect(terminal.written.out).not.toContain(made);
  expect(await terminal.run("webhooks", "add", "pay", "--provider", "stripe")).toBe(2);
  expect(terminal.written.err).toContain("--secret-env");
  expect(await terminal.run("webhooks", "add", "pay", "--provider", "stripe", "--secret-env", "NOPE")).toBe(2);
  expect(await terminal.run("webhooks", "make", "pay")).toBe(2);
});
