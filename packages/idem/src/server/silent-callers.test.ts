// Callers who hold lines, headers and bodies open and say nothing, and what everybody else notices of it.
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { held } from "../testing/one-run.suite.ts";
import { ask, type Opened, open, raw, route } from "./listener.suite.ts";
import { json } from "./route.ts";

const signingKey = "0123456789abcdef0123456789abcdef";
const keys = { mode: "start" as const, eventKeys: ["one"], signingKeys: [signingKey], password: "open sesame" };
const table = [
  route({ path: "/w/:source", contentTypes: ["*"], bodyBytesMax: 100_000, handle: () => json("kept") }),
  route({ path: "/e/:key", access: "event-key", bodyBytesMax: 100_000 }),
  route({ path: "/signed", access: "signing-key", bodyBytesMax: 100_000 }),
  route({ path: "/health", method: "GET", bodyBytesMax: null, isVital: true, handle: () => json("well") }),
];

/** Lines on which these bytes were said and no more. */
async function hold(port: number, bytes: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => socket.write(bytes, () => resolve(socket)));
          socket.on("error", () => {});
          // Only a reader notices its end.
          socket.resume();
        }),
    ),
  );
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

const announced = (path: string, more = "") =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n${more}\r\n`;

/** The answers to each of the honest. */
async function honest(server: Opened): Promise<readonly number[]> {
  const answers = await Promise.all([
    ask(server, { method: "GET", path: "/health" }),
    ask(server, { path: "/w/stripe", body: "{}" }),
    ask(server, { path: "/e/one", body: "{}" }),
    ask(server, { path: "/signed", headers: { authorization: `Bearer ${signingKey}` }, body: "{}" }),
  ]);
  return answers.map(({ status }) => status);
}

const allWell = [200, 200, 200, 200];

describe("bodies that never come", () => {
  test("2,001 of them from strangers keep nobody out, whoever has shown who they are least of all", async () => {
    const server = await open(table, { settings: keys });
    await hold(server.port, announced("/w/stripe"), 2_001);
    await expect.poll(() => server.listener.load.cutSilent).toBe(1_501);
    expect(await honest(server)).toEqual(allWell);
    const { requestsInFlight, refusedBusy, bodiesAwaited } = server.listener.load;
    expect([requestsInFlight, refusedBusy]).toEqual([0, 0]);
    expect(bodiesAwaited).toBeLessThanOrEqual(500);
  });

  test("an event key that is in a browser keeps out nobody else who has it, and nobody with another key", async () => {
    const server = await open(table, { settings: keys });
    await hold(server.port, announced("/e/one"), 2_001);
    await expect.poll(() => server.listener.load.bodiesAwaited).toBe(1_000);
    expect(await honest(server)).toEqual(allWell);
    expect(server.listener.load).toMatchObject({ requestsInFlight: 0, refusedBusy: 0 });
  });

  test("a stranger's is waited for as long as theirs, which is shorter than that of those with a key", async () => {
    const server = await open(table, { settings: keys, limits: { strangerBodyMs: 100, bodyMs: 60_000, lookMs: 20 } });
    await hold(server.port, announced("/signed", `authorization: Bearer ${signingKey}\r\n`), 1);
    await expect.poll(() => server.listener.load.bodiesAwaited).toBe(1);
    expect(await raw(server.port, announced("/w/stripe"))).toBe("");
    expect(server.listener.load.bodiesAwaited).toBe(1);
  });

  test("one that still arrives is not cut for those that come after and say nothing", async () => {
    const server = await open(table, { limits: { strangerBodies: 20, strangerBodiesPerAddress: 10 } });
    const slow = `POST /w/stripe HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20\r\n\r\n`;
    const [line] = await hold(server.port, slow, 1);
    const answer = new Promise<string>((resolve) => line!.once("data", (bytes) => resolve(String(bytes))));
    for (let sent = 1; sent <= 20; sent++) {
      line!.write("x");
      if (sent === 20) break;
      await expect.poll(() => server.listener.load.bodyBytesHeld, { interval: 5 }).toBe(sent);
      await hold(server.port, announced("/w/stripe"), 4);
      const opened = 1 + sent * 4;
      // All of them are here: one that came behind the next byte would have been silent for less long.
      await expect.poll(() => server.listener.load.bodiesAwaited, { interval: 5 }).toBe(Math.min(10, opened));
      await expect.poll(() => server.listener.load.cutSilent, { interval: 5 }).toBe(Math.max(0, opened - 10));
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 200/);
  });

  test("strangers that send almost all of a body leave the memory for bodies to others", async () => {
    const server = await open(table, { settings: keys, limits: { strangerBodyBytesHeld: 100_000 } });
    const almost = `POST /w/stripe HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50000\r\n\r\n${"x".repeat(49_999)}`;
    await hold(server.port, almost, 20);
    await expect.poll(() => server.listener.load.cutSilent).toBeGreaterThanOrEqual(18);
    expect(server.listener.load.bodyBytesHeld).toBeLessThanOrEqual(100_000);
    const body = JSON.stringify("y".repeat(60_000));
    expect(await ask(server, { path: "/e/one", body })).toMatchObject({ status: 200 });
    expect(await ask(server, { path: "/w/stripe", body })).toMatchObject({ status: 200 });
    expect(server.listener.load.refusedBusy).toBe(0);
  });
});

test("500 requests of strangers that arrive together are all answered, and one on a line with a key before most of them", async () => {
  const order: string[] = [];
  const note = (name: string) => () => {
    order.push(name);
    return json("noted");
  };
  const routes = [
    route({ path: "/w/:source", handle: note("stranger") }),
    route({ path: "/signed", access: "signing-key", handle: note("known") }),
  ];
  const server = await open(routes, {
    settings: keys,
    limits: { strangersPerTurn: 1, strangersPerTurnWhileOpening: 1 },
  });
  const bearer = `authorization: Bearer ${signingKey}\r\n`;
  const said = (path: string, more = "") =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${more}content-length: 2\r\n\r\n{}`;
  const [own] = await hold(server.port, said("/signed", bearer), 1);
  await expect.poll(() => order).toEqual(["known"]);
  const lines = await hold(server.port, "", 500);
  await expect.poll(() => server.listener.load.lines).toBe(501);
  // In one go: the loop, which is the server's as well, finds all of it in its next turn.
  for (const line of lines) line.write(said("/w/stripe"));
  own!.write(said("/signed", bearer));
  await expect.poll(() => order.length).toBe(502);
  expect(order.lastIndexOf("known")).toBeLessThan(250);
});

describe("requests that take long", () => {
  /** Webhooks that are not answered before `release`. */
  function slowTable() {
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = route({ path: "/slow", handle: () => until.then(() => json("done")) });
    return { routes: [...table, slow], release: () => release() };
  }

  test("strangers' take half of the places, and health is answered when all of them are taken", async () => {
    const { routes, release } = slowTable();
    const limits = { requestsInFlight: 4, strangersInFlight: 2 };
    const server = await open(routes, { settings: keys, limits });
    const slow = [ask(server, { path: "/slow", body: "1" }), ask(server, { path: "/slow", body: "1" })];
    await expect.poll(() => server.listener.load.requestsInFlight).toBe(2);
    expect(await honest(server)).toEqual([200, 503, 200, 200]);
    release();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await honest(server)).toEqual(allWell);
  });
});

test("looks at /health that are not answered yet take nobody's place", async () => {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  const health = route({
    path: "/health",
    method: "GET",
    bodyBytesMax: null,
    isVital: true,
    handle: () => until.then(() => json("well")),
  });
  const limits = { requestsInFlight: 4, strangersInFlight: 2 };
  const server = await open([...table.slice(0, 3), health], { settings: keys, limits });
  // All of them on one line, which does not wait for answers.
  const [line] = await hold(server.port, "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(60), 1);
  await expect.poll(() => server.listener.load.requestsInFlight).toBe(60);
  expect(await ask(server, { path: "/w/stripe", body: "{}" })).toMatchObject({ status: 200 });
  expect(await ask(server, { path: "/e/one", body: "{}" })).toMatchObject({ status: 200 });
  const said = new Promise<void>((resolve) => line!.once("data", () => resolve()));
  release();
  await said;
  await expect.poll(() => server.listener.load.requestsInFlight).toBe(0);
});

describe("lines without a request", () => {
  const cases = [
    ["nothing is said on them", ""],
    ["a header on them never ends", "GET /health HTTP/1.1\r\nhost: local"],
    ["they are kept alive after a request", "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"],
  ] as const;

  test.each(cases)("keep nobody out where %s", async (_, bytes) => {
    const limits = { connections: 40, connectionsPerAddress: 30 };
    const server = await open(table, { settings: keys, limits });
    await hold(server.port, bytes, 100);
    await expect.poll(() => server.listener.load.cutSilent).toBe(70);
    expect(await honest(server)).toEqual(allWell);
    expect(server.listener.load.lines).toBeLessThanOrEqual(40);
  });

  /** A line that is kept after each answer. */
  async function keepLine(server: Opened, request: string) {
    const [line] = await hold(server.port, "", 1);
    let isOpen = true;
    line!.once("close", () => {
      isOpen = false;
    });
    const say = async () => {
      if (!isOpen) return "closed";
      const answer = new Promise<string>((resolve) => {
        line!.once("data", (bytes) => resolve(String(bytes).slice(0, 12)));
        line!.once("close", () => resolve("closed"));
      });
      line!.write(request);
      return answer;
    };
    expect(await say()).toBe("HTTP/1.1 200");
    return { say };
  }
  const send = "POST /e/one HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
  const signed = `POST /signed HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${signingKey}\r\ncontent-length: 2\r\n\r\n{}`;

  test.each(cases)("cost nobody the line on which a key was shown, where %s", async (_, bytes) => {
    const server = await open(table, { settings: keys, limits: { connections: 40, connectionsPerAddress: 30 } });
    const lines = await Promise.all([keepLine(server, send), keepLine(server, signed)]);
    await hold(server.port, bytes, 100);
    await expect.poll(() => server.listener.load.cutSilent).toBe(70);
    for (const { say } of lines) expect(await say()).toBe("HTTP/1.1 200");
  });

  test("are counted apart by what was shown on them: an event key's many do not push out the line of a signing key", async () => {
    const server = await open(table, { settings: keys, limits: { connections: 20, connectionsPerAddress: 100 } });
    const own = await keepLine(server, signed);
    for (let n = 0; n < 30; n++) await keepLine(server, send);
    expect(await own.say()).toBe("HTTP/1.1 200");
    expect(server.listener.load.lines).toBeLessThanOrEqual(20);
    // Nor do they keep out who comes new.
    expect(await honest(server)).toEqual(allWell);
  });

  test("one with a request under way is not cut for those without", async () => {
    const others = held();
    const server = await open([route({ path: "/slow", handle: () => others.promise.then(() => json("done")) })], {
      limits: { connections: 10, connectionsPerAddress: 5 },
    });
    const slow = ask(server, { path: "/slow", body: "1" });
    await expect.poll(() => server.listener.load.requestsInFlight).toBe(1);
    await hold(server.port, "", 30);
    others.release();
    expect(await slow).toMatchObject({ status: 200 });
  });
});
