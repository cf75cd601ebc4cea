import { expect, test } from "vitest";
import { channelKind } from "../../../radar/channels.ts";
import { storeReadNames } from "../../api/store-read-shapes.ts";
import { testServer } from "../../test-server.suite.ts";

const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

test("answers the reads of the caller's own environment, and refuses every other, whatever is put into it", async () => {
  const server = await testServer();
  await server.define("pay", { event: "order/paid" }, () => 1);
  const read = (name: string, input: unknown, headers?: Record<string, string>) =>
    server.ask(`/api/store/${name}`, post({ input }, headers));
  expect((await read("functions", [])).json.answer.functions).toHaveLength(1);
  expect((await read("functions", [], { "x-inngest-env": "staging" })).json.answer.functions).toHaveLength(0);
  const refused = [
    ["environments", []],
    ["settingEnvironments", [channelKind]],
    ["constructor", []],
    ["runs", [{ limit: 1_000_000 }]],
    ["runs", [{ limit: 1, env: "staging" }]],
    ["runs", [null]],
    ["run", [{}]],
    ["settings", ["webhook-source"]],
    ["settings", ["session"]],
    ["now", [1]],
  ] as const;
  for (const [name, input] of refused) expect((await read(name, input)).status).toBe(400);
  for (const name of storeReadNames) expect((await read(name, ["x", {}, [], null])).status).toBe(400);
});

test("tells the channels of alerts by name and kind, and nothing that they are sent with", async () => {
  const server = await testServer();
  const { store } = await server.world.engine("default");
  const channel = {
    name: "ops",
    kind: "slack",
    url: "https://hooks.example/T1/secret",
    secret: "whsec_1",
    from: null,
    to: [],
    isMuted: false,
    createdAt: 1,
  };
  const by = { env: "default", over: null, reason: "x", actor: "test" } as const;
  await store.set({ ...by, kind: channelKind, name: "ops", value: JSON.stringify(channel) });
  const { text, json } = await server.ask("/api/store/settings", post({ input: [channelKind] }));
  expect(text).not.toMatch(/secret":"|whsec|hooks\.example/);
  expect(JSON.parse(json.answer[0].value)).toMatchObject({ name: "ops", kind: "slack", url: null });
});
