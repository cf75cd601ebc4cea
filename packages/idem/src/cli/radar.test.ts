// The radar's alerts from the command line.
import { expect, test } from "vitest";
import { channelKind, makeChannel } from "../radar/channels.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { storeWorld } from "./store-world.ts";

async function doubled() {
  const world = storeWorld();
  const { idem } = world;
  idem.createFunction({ id: "draft" }, { event: "placement/event" }, ({ event, step }) =>
    step.run("create", () => `in_${(event.data as { eventType: string }).eventType}`),
  );
  await idem.start();
  const send = (eventType: string) => idem.send({ name: "placement/event", data: { placementId: 7, eventType } });
  await send("INSERTED");
  await send("UPDATED");
  await idem.idle();
  return world;
}

test("what ran twice is listed, shown with the line to paste, exported, muted with a reason and closed", async () => {
  const { terminal, advance, stop } = await doubled();
  // Nobody has looked yet: the radar is the running process's.
  expect(await terminal.run("radar")).toBe(0);
  expect(terminal.written.err).toContain("no alert is open");
  await advance(5_000);
  await stop();
  expect(await terminal.run("radar")).toBe(1);
  expect(terminal.written.out).toContain('"draft" ran the same thing again 1 time');
  // An open alert is exit code 1, also for programs.
  expect(await terminal.run("radar", "--json")).toBe(1);
  const [{ id }] = JSON.parse(terminal.written.out);
  expect(await terminal.run("radar", id)).toBe(0);
  expect(terminal.written.out).toContain('idempotency: "event.data.placementId",');
  expect(await terminal.run("radar", id, "--export", "md")).toBe(0);
  expect(terminal.written.out).toContain("in\\_INSERTED");
  expect(await terminal.run("radar", id, "--mute", "7d")).toBe(2);
  expect(await terminal.run("radar", id, "--mute", "7d", "--reason", "Monday")).toBe(0);
  expect(terminal.written.out).toContain("is muted until");
  expect(await terminal.run("radar")).toBe(0);
  expect(await terminal.json("radar", id, "--close", "--reason", "done")).toMatchObject({ state: "closed" });
  expect(await terminal.run("radar", id, "--acknowledge", "--reason", "late")).not.toBe(0);
  expect(terminal.written.err).toContain("is closed");
  expect((await terminal.json("radar", "--all"))[0]).toMatchObject({ state: "closed", note: "done", pairCount: 1 });
});

test("channels are added, listed without their secrets, tried and removed, and an alert says whom it was told to", async () => {
  const { terminal, path, store, advance, stop } = await doubled();
  const channel = makeChannel("here", { kind: "log" }, null, { secret: "", now: 0 });
  const setting = { env: "default", kind: channelKind, name: "here", over: null, reason: "test" };
  await store.set({ ...setting, value: JSON.stringify(channel) });
  // Background work is not stopped for: one look finds, a later one carries.
  for (let look = 0; look < 4; look++) await advance(5_000);
  await stop();
  const env = { IDEM_STORE: `sqlite:${path}`, SLACK_URL: "https://hooks.slack.com/services/T000/hidden" };
  const given = fakeTerminal({ cwd: terminal.cwd, platform: terminal.platform, env });
  await given.run("radar", "--json");
  const [{ id }] = JSON.parse(given.written.out);
  await given.run("radar", id);
  expect(given.written.out).toContain('Sent to log "here" at ');
  expect(await given.run("radar", "channel", "test", "here")).toBe(0);
  expect(given.written.err).toContain('a test of the channel "here"');
  expect(await given.run("radar", "channel", "remove", "here")).toBe(2);
  expect(await given.run("radar", "channel", "remove", "here", "--reason", "noise")).toBe(0);
  expect(await given.run("radar", "--channels")).toBe(0);
  expect(given.written.err).toContain("Nobody is told of alerts");
  expect(await given.run("radar", "channel", "add", "ops", "--kind", "slack")).toBe(2);
  expect(await given.run("radar", "channel", "add", "ops", "--kind", "slack", "--url-env", "SLACK_URL")).toBe(0);
  expect(await given.run("radar", "--channels")).toBe(0);
  expect(given.written.out).toContain("https://hooks.slack.com");
  expect(given.written.out).not.toContain("hidden");
});
