// The official client of the protocol, against both doors: the command on standard input and output, and a server's route.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fakeTerminal } from "../cli/fake-terminal.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { testKeys, testServer } from "../server/test-server.suite.ts";
import { answerText } from "./answer-message.ts";
import { tools } from "./tools.ts";

const looking = Object.entries(tools)
  .filter(([, { acts }]) => !acts)
  .map(([name]) => name);

describe("idem mcp", () => {
  const cwd = mkdtempSync(join(tmpdir(), "idem-mcp-"));
  const store = `sqlite:${join(cwd, "shop.db")}`;
  let runId = "";

  beforeAll(async () => {
    const idem = new Idem({ id: "shop", store, logger: false });
    idem.createFunction({ id: "greet", idempotency: "event.data.to" }, { event: "a/b" }, ({ step }) =>
      step.run("hello", () => "hi"),
    );
    await idem.start();
    for (let i = 0; i < 2; i++) {
      const { decisions } = await idem.send({ name: "a/b", data: { to: "ada" } });
      runId = decisions[0]!.runId!;
    }
    await idem.idle();
    await idem.stop();
  });

  /** The command with the official client at its other end. */
  async function connected(...args: string[]): Promise<Client> {
    const [here, there] = InMemoryTransport.createLinkedPair();
    const lines: string[] = [];
    let wake = () => {};
    let isOver = false;
    there.onmessage = (message) => {
      lines.push(JSON.stringify(message));
      wake();
    };
    there.onclose = () => {
      isOver = true;
      wake();
    };
    await there.start();
    const io = fakeTerminal({ cwd, platform: nodePlatform });
    const { main } = await import("../cli/main.ts");
    const ended = main(["mcp", "--store", store, ...args], {
      ...io,
      out: { ...io.out, write: (text) => void there.send(JSON.parse(text)) },
      lines: async function* () {
        while (!isOver) {
          yield* lines.splice(0);
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (lines.length > 0 || isOver) resolve();
          });
        }
      },
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(here);
    onTestFinished(async () => {
      await client.close();
      expect(await ended).toBe(0);
    });
    return client;
  }

  const called = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
    return isError === true ? { refused: (content as { text: string }[])[0]!.text } : structuredContent;
  };

  test("lists its tools and looks with each of them; what acts is refused with what would allow it", async () => {
    const client = await connected();
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name).sort()).toEqual([...Object.keys(tools), "verify"].sort());
    expect(listed.find(({ name }) => name === "send")!.annotations).toMatchObject({ readOnlyHint: false });
    expect(await called(client, "functions")).toMatchObject({ functions: [{ id: "greet" }] });
    expect(await called(client, "runs", { state: "completed" })).toMatchObject({ runs: [{ id: runId }] });
    expect(await called(client, "run", { run: runId })).toMatchObject({ id: runId, state: "completed", output: "hi" });
    expect(await called(client, "events", { limit: 1 })).toMatchObject({ events: [{ name: "a/b" }] });
    expect(JSON.stringify(await called(client, "explain", { about: runId }))).toContain("ada");
    expect(await called(client, "radar")).toBeDefined();
    expect(await called(client, "doctor")).toBeDefined();
    expect(await called(client, "send", { name: "a/b" })).toEqual({ refused: expect.stringContaining("--act") });
    expect(await called(client, "run", { run: "01NOBODY" })).toEqual({ refused: expect.stringContaining("01NOBODY") });
  });

  test("with --act an event is sent and a run is run again, with what was decided", async () => {
    const client = await connected("--act");
    expect(await called(client, "send", { name: "a/b", data: { to: "ada" } })).toMatchObject({
      decisions: [{ kind: "duplicate-key" }],
    });
    expect(await called(client, "rerun", { run: runId })).toEqual({ runId: expect.any(String) });
  });

  test("an option or a file in the place of an id is refused before any command runs", async () => {
    const client = await connected("--act");
    for (const run of ["--store=sqlite:/etc/passwd", "-h", "@/etc/passwd", " x", ""]) {
      await expect(client.callTool({ name: "run", arguments: { run } })).rejects.toThrow(/-32602/);
    }
    await expect(client.callTool({ name: "runs", arguments: { store: "x" } })).rejects.toThrow(/store/);
    await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toThrow(/nobody/);
  });
});

test("as an editor starts it, idem mcp --server looks and acts at a server in another process, by a key in its environment", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "idem-mcp-"));
  const bin = fileURLToPath(new URL("../../bin/idem.mjs", import.meta.url));
  const keys = { IDEM_SIGNING_KEY: testKeys.signing, IDEM_EVENT_KEY: testKeys.event };
  const own = { PATH: process.env.PATH ?? "", ...keys };
  const server = spawn(process.execPath, [bin, "start", "--port", "0", "--store", "sqlite:shop.db"], { cwd, env: own });
  onTestFinished(() => void server.kill("SIGKILL"));
  let said = "";
  server.stdout.on("data", (part) => {
    said += part;
  });
  await expect.poll(() => said).toMatch(/Ctrl-C stops/);
  const origin = /listens +(http:\/\/\S+)/.exec(said)![1]!;
  const client = new Client({ name: "test", version: "1" });
  const args = [bin, "mcp", "--act", "--server", origin];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: own }));
  onTestFinished(() => client.close());
  const called = async (name: string, input: Record<string, unknown> = {}) => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: input });
    return isError === true ? { refused: (content as { text: string }[])[0]!.text } : structuredContent;
  };
  expect(await called("send", { name: "order/paid", id: "order-7" })).toMatchObject({ unmatched: true });
  expect(await called("send", { name: "order/paid", id: "order-7" })).toMatchObject({ decisions: [] });
  expect(await called("events")).toMatchObject({ events: [{ name: "order/paid" }, { name: "order/paid" }] });
  for (const name of ["functions", "runs", "radar"]) expect(await called(name)).toEqual({ [name]: [] });
  expect(await called("explain", { about: "order-7" })).toMatchObject({ story: expect.anything() });
  expect(await called("doctor")).toMatchObject({ env: "default", problems: 0, facts: { functions: "0" } });
  expect(await called("rerun", { run: "01NOBODY" })).toEqual({ refused: expect.stringContaining("01NOBODY") });
});

test("POST /mcp answers with the shapes of the API, acts only where the address says so and only for those who may", async () => {
  const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };
  const server = await testServer({
    mode: "start",
    ...passwords,
    eventKeys: [testKeys.event],
    signingKeys: [testKeys.signing],
  });
  const connected = async (path: string, password: string): Promise<Client> => {
    const client = new Client({ name: "test", version: "1" });
    const authorization = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
    const transport = new StreamableHTTPClientTransport(new URL(path, server.origin), {
      requestInit: { headers: { authorization } },
    });
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    onTestFinished(() => client.close());
    return client;
  };
  const refusalOf = async (client: Client) => {
    const { isError, content } = await client.callTool({ name: "send", arguments: { name: "x/y" } });
    return isError === true ? (content as { text: string }[])[0]!.text : null;
  };
  const looks = await connected("/mcp", passwords.password);
  expect((await looks.listTools()).tools.map(({ name }) => name).sort()).toEqual(Object.keys(tools).sort());
  for (const name of looking.filter((each) => each !== "run" && each !== "explain")) {
    expect((await looks.callTool({ name, arguments: {} })).structuredContent, name).toBeDefined();
  }
  expect(await refusalOf(looks)).toContain("act=true");
  expect(await refusalOf(await connected("/mcp?act=true", passwords.viewerPassword))).toContain("viewers");
  expect(await refusalOf(await connected("/mcp?act=true", passwords.password))).toBeNull();
  const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"name":"x/y","data":${deep}}}}`;
  const authorization = `Basic ${Buffer.from(`me:${passwords.password}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  expect((await server.ask("/mcp?act=true", { method: "POST", headers, body: nested })).status).toBe(400);
  const stranger = await server.ask("/mcp", { method: "POST", body: "{}" });
  expect(stranger.status).toBe(401);
});

test("whatever is no request is answered by the protocol's own codes, and a notice by nothing", async () => {
  const server = { version: "1", tools: {}, whyNoActs: null };
  const codeOf = async (text: string) => (await answerText(server, text))?.error as { code: number } | undefined;
  expect(await codeOf("{")).toMatchObject({ code: -32_700 });
  for (const text of ["[]", "7", "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
    expect(await codeOf(text), text).toMatchObject({ code: -32_600 });
  }
  expect(await codeOf('{"jsonrpc":"2.0","id":1,"method":"resources/list"}')).toMatchObject({ code: -32_601 });
  expect(await answerText(server, '{"jsonrpc":"2.0","method":"notifications/initialized"}')).toBeNull();
});
