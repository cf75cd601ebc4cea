// Alert channels, set up and tried over the API.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type ApiWorld, apiWorld, stores } from "../../api/api-world.suite.ts";
import { listChannels, putChannel, removeChannel, testChannel } from "./radar-channels.ts";

const reason = "agreed with finance";
const asked = (channel: string, body: Record<string, unknown> = {}) => ({
  params: { channel },
  body: { reason, ...body },
});

async function receiver(status: number) {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(request.url ?? "");
    request.resume().on("end", () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hidden-path` };
}

const auditOf = async ({ store }: ApiWorld) =>
  (await store.reads.auditPage("default", { limit: 10 })).rows.map((row) => [row.action, row.subject, row.reason]);

test.each(stores)(
  "a channel is made, shown by marks only, changed, tried and removed, all in the audit: %s",
  async (store) => {
    const world = await apiWorld({ store });
    const { got, url } = await receiver(204);
    const made = await world.ask(putChannel, asked("hook", { kind: "webhook", url }));
    expect(made.body).toMatchObject({
      channel: { name: "hook", kind: "webhook", host: new URL(url).origin, muted: false },
      secret: expect.stringMatching(/^whsec_/),
    });
    const muted = await world.ask(putChannel, asked("hook", { muted: true }));
    expect(muted.body).toMatchObject({ channel: { ...made.body.channel, muted: true }, secret: null });
    const listed = await world.ask(listChannels);
    expect(listed.body.channels).toHaveLength(1);
    expect(JSON.stringify(listed.body)).not.toMatch(/hidden-path|whsec_/);
    const tried = { params: { channel: "hook" }, body: {} };
    expect((await world.ask(testChannel, tried)).body).toEqual({ sent: true, why: null });
    expect(got).toEqual(["/hidden-path"]);
    const broken = await receiver(500);
    await world.ask(putChannel, asked("hook", { url: broken.url }));
    expect((await world.ask(testChannel, tried)).body).toEqual({ sent: false, why: "it answered 500" });
    expect((await world.ask(removeChannel, asked("hook"))).body).toEqual({ removed: "hook" });
    expect(await world.ask(testChannel, tried)).toMatchObject({ status: 404, body: { code: "CHANNEL_UNKNOWN" } });
    const audit = await auditOf(world);
    expect(audit).toContainEqual(["test-channel", "hook", "not sent: it answered 500"]);
    expect(audit.filter(([action]) => action === "change-setting")).toHaveLength(4);
    expect(JSON.stringify(audit)).not.toMatch(/hidden-path|whsec_/);
  },
);

test("what nothing could be sent to is refused, and in start what is inside the server's network", async () => {
  const world = await apiWorld();
  for (const wrong of [{}, { kind: "slack" }, { kind: "email", url: "smtp://example.com" }, { kind: "fax" }]) {
    expect((await world.ask(putChannel, asked("ops", wrong))).status).toBe(400);
  }
  Object.assign(world.world.settings, { mode: "start", allowHosts: [], sdkUrls: [] });
  const inside = await world.ask(putChannel, asked("ops", { kind: "slack", url: "http://10.0.0.7/in" }));
  expect(inside).toMatchObject({ status: 400, body: { code: "OPTION_INVALID" } });
});
