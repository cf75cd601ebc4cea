import { describe, expect, test } from "vitest";
import { connectionReady, frameKind, startResponse } from "../../protocol/connect-messages.ts";
import { fakeGateway, workerApp } from "./fake-worker.suite.ts";

const { gatewayHello, gatewayConnectionReady, syncFailed, workerHeartbeat, gatewayHeartbeat } = frameKind;

describe("the handshake", () => {
  test("a worker is greeted, registered, told its intervals, and only then counted", async () => {
    const { gateway, open, token, registered } = fakeGateway();
    const worker = open();
    expect(worker.kinds).toEqual([gatewayHello]);
    const { connectionId, sessionToken } = await token("staging");
    expect(gateway.workerCount("staging", "shop")).toBe(0);
    worker.greet({
      connectionId,
      authData: { sessionToken, syncToken: "" },
      apps: [{ ...workerApp("shop", ["pay", "pay-failure"]), appVersion: "v9" }],
    });
    await worker.greeted;
    expect(worker.kinds).toEqual([gatewayHello, gatewayConnectionReady]);
    expect(connectionReady.decode(worker.received[1]!.payload)).toEqual({
      heartbeatInterval: "10000ms",
      extendLeaseInterval: "2000ms",
      statusInterval: "10000ms",
    });
    expect(worker.isTrusted).toBe(true);
    expect(gateway.workerCount("staging", "shop")).toBe(1);
    expect(registered).toHaveLength(1);
    expect(registered[0]).toMatchObject({
      env: "staging",
      registration: { app: "shop", url: null, sdk: "js:v4.24.0", framework: "connect", appVersion: "v9" },
    });
    expect(registered[0]!.registration.functions.map(({ fn, config }) => [fn, config.runtime])).toEqual([
      ["shop-pay", { kind: "connect" }],
      ["shop-pay-failure", { kind: "connect" }],
    ]);
  });

  test("a worker that has to say when it is ready gets no call before", async () => {
    const { worker: connect, call } = fakeGateway();
    const worker = await connect({ ready: false });
    call();
    expect(worker.calls).toEqual([]);
    worker.say(frameKind.workerReady);
    expect(worker.calls).toHaveLength(1);
  });

  test("a worker that does not promise to say when it is ready is ready at once", async () => {
    const { worker: connect, call } = fakeGateway();
    const worker = await connect({ ready: false, workerManualReadinessAck: false });
    call();
    expect(worker.calls).toHaveLength(1);
  });

  test("without a token of ours nothing is registered", async () => {
    const { open, token, registered } = fakeGateway();
    const { connectionId, sessionToken } = await token();
    const greetings = [
      { connectionId },
      { connectionId, authData: { sessionToken: "", syncToken: "" } },
      { connectionId, authData: { sessionToken: `${sessionToken}x`, syncToken: sessionToken } },
      { connectionId: "another", authData: { sessionToken, syncToken: "" } },
    ];
    for (const greeting of greetings) {
      const worker = open();
      worker.greet({ ...greeting, apps: [workerApp("shop", ["pay"])] });
      await worker.greeted;
      expect(worker.closed).toMatchObject({ code: 1008, reason: expect.stringContaining("session token") });
    }
    expect(registered).toEqual([]);
  });

  test("a token is good for a minute, and for one worker at a time", async () => {
    const { open, token, advance } = fakeGateway();
    const { connectionId, sessionToken } = await token();
    const greeting = {
      connectionId,
      authData: { sessionToken, syncToken: "" },
      apps: [workerApp("shop", ["pay"])],
    };
    const first = open();
    first.greet(greeting);
    await first.greeted;
    const second = open();
    second.greet(greeting);
    await second.greeted;
    expect([first.closed, second.closed?.reason]).toEqual([null, "its session token is in use by another worker"]);
    first.hangUp();
    await advance(61_000);
    const late = open();
    late.greet(greeting);
    await late.greeted;
    expect(late.closed?.reason).toContain("expired");
  });

  test("a worker of an SDK that is too old is refused, with the reason for it, the log and the list of apps", async () => {
    const { gateway, open, token, registered, refused, log } = fakeGateway();
    const { connectionId, sessionToken } = await token("staging");
    const worker = open();
    worker.greet({
      connectionId,
      authData: { sessionToken, syncToken: "" },
      apps: [workerApp("shop", ["pay"])],
      sdkVersion: "v3.11.0",
    });
    await worker.greeted;
    expect(worker.kinds).toEqual([gatewayHello, syncFailed]);
    const why = Buffer.from(worker.received[1]!.payload).toString();
    expect(why).toContain('App "shop" cannot be registered: it uses inngest 3.11.0');
    expect(worker.closed?.code).toBe(1008);
    expect(registered).toEqual([]);
    expect(gateway.workerCount("staging", "shop")).toBe(0);
    expect(refused).toEqual([{ env: "staging", app: "shop", error: why }]);
    expect(log).toEqual([expect.stringContaining(why)]);
  });

  test("a worker whose functions cannot be registered is told which and why", async () => {
    const { gateway, open, token, registered } = fakeGateway();
    const functions = JSON.parse(workerApp("shop", ["pay"]).functions.toString());
    functions[0].steps = {};
    const apps = [
      { list: functions, why: 'Function "shop-pay" cannot be registered' },
      { list: { not: "a list" }, why: "functions must be a list" },
    ];
    for (const { list, why } of apps) {
      const { connectionId, sessionToken } = await token();
      const worker = open();
      worker.greet({
        connectionId,
        authData: { sessionToken, syncToken: "" },
        apps: [{ appName: "shop", appVersion: null, functions: Buffer.from(JSON.stringify(list)) }],
      });
      await worker.greeted;
      expect(worker.kinds).toEqual([gatewayHello, syncFailed]);
      expect(Buffer.from(worker.received[1]!.payload).toString()).toContain(why);
      expect(worker.closed?.code).toBe(1008);
    }
    expect(registered).toEqual([]);
    expect(gateway.workerCount("default", "shop")).toBe(0);
  });

  test("a worker without apps is refused", async () => {
    const { worker: connect } = fakeGateway();
    const worker = await connect({ apps: {}, ready: false });
    expect(worker.kinds).toEqual([gatewayHello, syncFailed]);
  });

  test("a store that fails is not the worker's fault: it may come again", async () => {
    const { open, token, world } = fakeGateway();
    world.apps.register = async () => {
      throw new Error("disk full of secrets");
    };
    const { connectionId, sessionToken } = await token();
    const worker = open();
    worker.greet({ connectionId, authData: { sessionToken, syncToken: "" }, apps: [workerApp("shop", ["pay"])] });
    await worker.greeted;
    expect(worker.kinds).toEqual([gatewayHello]);
    expect(worker.closed?.reason).not.toContain("secrets");
  });

  test("a worker that says nothing is gone after 10 s", async () => {
    const { open, advance } = fakeGateway();
    const worker = open();
    await advance(9_999);
    expect(worker.closed).toBeNull();
    await advance(1);
    expect(worker.closed?.reason).toBe("the handshake took too long");
  });

  test("whoever begins with anything but a greeting is sent away", async () => {
    const { open } = fakeGateway();
    const worker = open();
    worker.say(workerHeartbeat);
    expect(worker.closed?.code).toBe(1008);
    const babbler = open();
    babbler.sayBytes(Buffer.from("0b0b0b", "hex"));
    expect(babbler.closed?.reason).toContain("cannot be read");
  });

  test("only so many workers may be connected, and those that say nothing are not among them", async () => {
    const { gateway, world, worker: connect, open } = fakeGateway({ connectionsMax: 2 });
    const start = () => gateway.start("default", "ws://127.0.0.1:1/connect", world);
    for (let i = 0; i < 10; i++) open();
    await connect();
    const last = await connect();
    expect(start).toThrow(expect.objectContaining({ code: "WORKERS_TOO_MANY" }));
    last.hangUp();
    start();
  });
});

describe("sockets that say nothing", () => {
  const bounds = { strangersMax: 4, strangersPerAddressMax: 2 };
  const hold = (gateway: ReturnType<typeof fakeGateway>, count: number, address: string) =>
    Array.from({ length: count }, () => gateway.open({ address }));

  test("keep no worker out: it is told where to connect, and the oldest of them goes for it", async () => {
    const fake = fakeGateway(bounds);
    const silent = ["a", "b", "c"].flatMap((address) => hold(fake, 2, address));
    expect(silent.map(({ closed }) => closed === null)).toEqual([false, false, true, true, true, true]);
    const worker = await fake.worker();
    expect(worker.closed).toBeNull();
    expect(fake.gateway.workerCount("default", "shop")).toBe(1);
    expect(silent.filter(({ closed }) => closed === null)).toHaveLength(3);
  });

  test("of one address push out each other and nobody else's", () => {
    const fake = fakeGateway(bounds);
    const [other] = hold(fake, 1, "198.51.100.1");
    const silent = hold(fake, 20, "203.0.113.9");
    expect(other!.closed).toBeNull();
    expect(silent.filter(({ closed }) => closed === null)).toEqual(silent.slice(-2));
  });

  test("do not push out a worker that came with the ticket of its start, however many come", async () => {
    const fake = fakeGateway(bounds);
    const { connectionId, sessionToken, gatewayEndpoint } = fake.token();
    const ticket = new URL(gatewayEndpoint).searchParams.get("ticket")!;
    const expectedAs = fake.gateway.expects(ticket, fake.world)!;
    const worker = fake.open({ expectedAs });
    hold(fake, 100, "127.0.0.1");
    expect(worker.closed).toBeNull();
    worker.greet({ connectionId, authData: { sessionToken, syncToken: "" }, apps: [workerApp("shop", ["pay"])] });
    await worker.greeted;
    expect(fake.gateway.workerCount("default", "shop")).toBe(1);
  });

  test("share a ticket in vain: it is good for one of them, admits nobody, and ends", async () => {
    const fake = fakeGateway(bounds);
    const { connectionId, gatewayEndpoint } = fake.token();
    const ticket = new URL(gatewayEndpoint).searchParams.get("ticket")!;
    const [first, ...more] = Array.from({ length: 10 }, () => fake.open({ expectedAs: connectionId }));
    expect([first!.closed, more.filter(({ closed }) => closed === null).length]).toEqual([null, 2]);
    first!.greet({
      connectionId,
      authData: { sessionToken: ticket, syncToken: "" },
      apps: [workerApp("shop", ["pay"])],
    });
    await first!.greeted;
    expect(first!.closed?.reason).toContain("session token");
    expect(fake.gateway.expects(`${ticket}x`, fake.world)).toBeNull();
    await fake.advance(61_000);
    expect(fake.gateway.expects(ticket, fake.world)).toBeNull();
  });

  test("hold so many bytes of greetings together, and the oldest goes for the next", () => {
    const fake = fakeGateway({ greetingBytesTotalMax: 100 });
    const [first, second, third] = hold(fake, 3, "203.0.113.9");
    first!.sendsPartly(60);
    second!.sendsPartly(40);
    third!.sendsPartly(1);
    expect([first!.closed === null, second!.closed, third!.closed]).toEqual([false, null, null]);
    third!.sendsPartly(59);
    expect(second!.closed).toBeNull();
  });
});

describe("a connection that is alive", () => {
  test("every heartbeat is answered", async () => {
    const { worker: connect } = fakeGateway();
    const worker = await connect();
    worker.say(workerHeartbeat);
    worker.say(workerHeartbeat);
    expect(worker.kinds.filter((kind) => kind === gatewayHeartbeat)).toHaveLength(2);
  });

  test("a worker that missed five heartbeats is disconnected, one that speaks is not", async () => {
    const { gateway, worker: connect, advance } = fakeGateway();
    const mute = await connect();
    const alive = await connect();
    for (let i = 0; i < 6; i++) {
      await advance(10_000);
      alive.say(workerHeartbeat);
    }
    expect([mute.closed?.code, alive.closed]).toEqual([1006, null]);
    expect(gateway.workerCount("default", "shop")).toBe(1);
  });

  test("frames of a kind nobody knows are passed over", async () => {
    const { worker: connect } = fakeGateway();
    const worker = await connect();
    worker.say(99);
    expect(worker.closed).toBeNull();
  });
});

test("what /v0/connect/start answers names a place, a token and an id of its own", () => {
  const { gateway, world } = fakeGateway();
  const [one, two] = [1, 2].map(() => startResponse.decode(gateway.start("default", "ws://here/connect", world)));
  expect(one).toMatchObject({
    gatewayEndpoint: expect.stringMatching(/^ws:\/\/here\/connect\?ticket=[\w.-]+$/),
    gatewayGroup: "idem",
  });
  expect(one!.sessionToken.length).toBeGreaterThan(20);
  expect(one!.connectionId).not.toBe(two!.connectionId);
});
