// Peers that are not the SDK reach the gateway through the real listener.
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectProtocol, frame, frameKind, startResponse, workerConnect } from "../../protocol/connect-messages.ts";
import type { RouteRequest } from "../route.ts";
import { startConnection } from "../routes/wire/start-connection.ts";
import { sockets } from "../routes.ts";
import { type ConnectServer, connectServer } from "./connect-server.suite.ts";
import { connectWorkersV0 } from "./connect-workers.ts";
import { workerApp } from "./fake-worker.suite.ts";

const mebibyte = 1024 * 1024;

const opened: ConnectServer[] = [];
afterEach(async () => {
  for (const { listener } of opened.splice(0)) await listener.close(0);
});

async function server(options: Parameters<typeof connectServer>[0] = {}) {
  const connected = await connectServer(options);
  opened.push(connected);
  const { origin, listener, world, gateway } = connected;
  const post = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "content-type": "application/protobuf", ...headers },
    });
  return { world, gateway, host: `127.0.0.1:${listener.port}`, post };
}

/** A socket, and how it ended. */
function open(where: string, protocols: string[] = [connectProtocol]) {
  const socket = new WebSocket(where.startsWith("ws:") ? where : `ws://${where}/connect`, protocols);
  const messages: { kind: number }[] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (data) => {
    messages.push(frame.decode(data as Buffer));
    for (const wake of waiting.splice(0)) wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const error = new Promise<Error>((resolve) => socket.on("error", resolve));
  const hears = async (kind: number) => {
    while (!messages.some((message) => message.kind === kind)) await new Promise<void>((wake) => waiting.push(wake));
  };
  return { socket, closed, error, hears };
}

describe("the socket", () => {
  test("is for those who speak the protocol", async () => {
    const { host } = await server();
    expect((await open(host, []).error).message).toContain("400");
    expect((await open(host, ["v9.connect"]).error).message).toContain("400");
  });

  test("is at /v0/connect as well, the address that other servers give", async () => {
    const { host } = await server({ socket: connectWorkersV0 });
    const { socket, hears, closed } = open(`ws://${host}/v0/connect`);
    await hears(frameKind.gatewayHello);
    socket.close();
    await closed;
    expect(sockets).toContain(connectWorkersV0);
  });

  test("takes binary frames only", async () => {
    const { host } = await server();
    const { socket, hears, closed } = open(host);
    await hears(frameKind.gatewayHello);
    socket.send("hello");
    expect((await closed).code).toBe(1003);
  });

  test("is cut when a stranger sends more than a greeting can be", async () => {
    const { host } = await server();
    const { socket, hears, closed } = open(host);
    await hears(frameKind.gatewayHello);
    socket.send(Buffer.alloc(6 * mebibyte));
    expect((await closed).code).toBe(1006);
  });

  test("takes from a worker it knows what an app may answer, and no message beyond all bounds", async () => {
    const { host, post } = await server();
    const started = await post("/v0/connect/start", new Uint8Array(0));
    const { connectionId, sessionToken, gatewayEndpoint } = startResponse.decode(
      new Uint8Array(await started.arrayBuffer()),
    );
    expect(gatewayEndpoint).toContain(`ws://${host}/connect?ticket=`);
    const { socket, hears, closed } = open(gatewayEndpoint);
    await hears(frameKind.gatewayHello);
    const greeting = { connectionId, authData: { sessionToken, syncToken: "" }, apps: [workerApp("shop", ["pay"])] };
    socket.send(frame.encode({ kind: frameKind.workerConnect, payload: workerConnect.encode(greeting) }));
    await hears(frameKind.gatewayConnectionReady);
    socket.send(frame.encode({ kind: 99, payload: new Uint8Array(9 * mebibyte) }));
    socket.send(frame.encode({ kind: frameKind.workerHeartbeat, payload: new Uint8Array(0) }));
    await hears(frameKind.gatewayHeartbeat);
    socket.send(Buffer.alloc(17 * mebibyte));
    expect((await closed).code).toBe(1009);
  });

  test("says why it refuses a worker, in as many bytes as a close frame has", async () => {
    const { host } = await server();
    const { socket, hears, closed } = open(host);
    await hears(frameKind.gatewayHello);
    socket.send(frame.encode({ kind: frameKind.workerConnect, payload: workerConnect.encode({ connectionId: "x" }) }));
    expect(await closed).toEqual({ code: 1008, reason: "its session token is not known here or has expired" });
  });
});

describe("POST /v0/connect/start and /flush", () => {
  test("ask for a signing key where there are keys", async () => {
    const key = "signkey-prod-4f2a9c0e7b1d8356af03c9e2517bd864";
    const { post } = await server({ mode: "start", eventKeys: ["9e41c7d20ab85f36"], signingKeys: [key] });
    for (const path of ["/v0/connect/start", "/v0/connect/flush"]) {
      expect((await post(path, new Uint8Array(0))).status).toBe(401);
      expect((await post(path, new Uint8Array(0), { authorization: `Bearer ${key}` })).status).toBe(200);
    }
  });

  test("refuse bodies that are no such message, with the reason in the SDK's shape", async () => {
    const { post } = await server();
    for (const path of ["/v0/connect/start", "/v0/connect/flush"]) {
      const answer = await post(path, Buffer.from("0b0b", "hex"));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ status: 400, error: expect.stringContaining("its body is no ") });
      expect((await post(path, Buffer.from("{}"), { "content-type": "application/json" })).status).toBe(415);
    }
  });

  test("answer 429 when there is no room for another worker", async () => {
    const { post } = await server({ connectLimits: { connectionsMax: 1 } });
    const started = await post("/v0/connect/start", new Uint8Array(0));
    const { hears } = open(startResponse.decode(new Uint8Array(await started.arrayBuffer())).gatewayEndpoint);
    await hears(frameKind.gatewayHello);
    const answer = await post("/v0/connect/start", new Uint8Array(0));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([429, "WORKERS_TOO_MANY"]);
  });

  test("acknowledge a reply nobody waits for", async () => {
    const { post } = await server();
    const answer = await post("/v0/connect/flush", Buffer.from("0a0478797a31", "hex"));
    expect(Buffer.from(await answer.arrayBuffer()).toString("hex")).toBe("0a0478797a31");
  });

  test("send a worker to where it reached us, by TLS if a proxy says so", async () => {
    const { world } = await server();
    const endpoint = async (headers: Record<string, string>) => {
      const request = { headers, env: "default", body: Buffer.alloc(0) } as unknown as RouteRequest;
      const { body } = await startConnection.handle(request, world);
      const { gatewayEndpoint } = startResponse.decode(body as Uint8Array);
      return gatewayEndpoint.slice(0, gatewayEndpoint.indexOf("?"));
    };
    expect(await endpoint({ host: "idem.internal:8288" })).toBe("ws://idem.internal:8288/connect");
    expect(await endpoint({ host: "[::1]:8288" })).toBe("ws://[::1]:8288/connect");
    expect(await endpoint({ host: "x.example", "x-forwarded-proto": "https, http" })).toBe("wss://x.example/connect");
    expect(await endpoint({ host: "evil/path@x" })).toBe("ws://127.0.0.1:8288/connect");
    expect(await endpoint({})).toBe("ws://127.0.0.1:8288/connect");
  });
});

describe("sockets that say nothing", () => {
  test("300 of them lock no worker out: start and handshake go on", async () => {
    const { host, post, gateway } = await server();
    const silent = Array.from({ length: 300 }, () => open(host));
    await Promise.all(
      silent.map(({ hears, closed, error }) => Promise.race([hears(frameKind.gatewayHello), closed, error])),
    );
    const started = await post("/v0/connect/start", new Uint8Array(0));
    expect(started.status).toBe(200);
    const { connectionId, sessionToken, gatewayEndpoint } = startResponse.decode(
      new Uint8Array(await started.arrayBuffer()),
    );
    // With the ticket of its start, and as a worker that was given another address to connect to.
    for (const where of [gatewayEndpoint, host]) {
      const { socket, hears } = open(where);
      await hears(frameKind.gatewayHello);
      const greeting = { connectionId, authData: { sessionToken, syncToken: "" }, apps: [workerApp("shop", ["pay"])] };
      socket.send(frame.encode({ kind: frameKind.workerConnect, payload: workerConnect.encode(greeting) }));
      await hears(frameKind.gatewayConnectionReady);
      expect(gateway.workerCount("default", "shop")).toBe(1);
      socket.terminate();
      await expect.poll(() => gateway.workerCount("default", "shop")).toBe(0);
    }
    for (const { socket } of silent) socket.terminate();
  });
});
