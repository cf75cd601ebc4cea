// Numbers past 2^53 in keys: two ids must never be one key, and nothing runs without its key in silence.
import { describe, expect, test } from "vitest";
import { digitsOf, kindOfNumber, markLost, parseWritten, WrittenNumber } from "../model/long-number.ts";
import { testServer } from "../server/test-server.suite.ts";
import { stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { genericHmac } from "../toolkit/webhooks/providers/generic-hmac.ts";

const lost = 2 ** 53;

describe.each(stores)("a JavaScript number past 2^53 on %s", (store) => {
  const keyed = async (options: object) => {
    const world = testIdem({ store });
    const ran: unknown[] = [];
    world.idem.createFunction({ id: "fn", ...options }, { event: "a/b" }, async ({ event }) => ran.push(event.data));
    await world.idem.start();
    const send = async (data: Record<string, unknown>, more: object = {}) =>
      (await world.idem.send({ name: "a/b", data, ...more })).decisions[0]!;
    return { ...world, ran, send };
  };

  test.each([
    ["by itself", "event.data.id", { id: lost }],
    ["as a text", "string(event.data.id)", { id: lost }],
    ["in a list", "[event.data.tenant, event.data.id]", { tenant: 7, id: lost }],
    ["deep inside", "event.data.order", { order: { id: -lost } }],
    ["above 10^21", "event.data.id", { id: 1e22 }],
  ])("in a key, %s: the event is held with its reason, also where a missing key would run", async (_how, key, data) => {
    for (const onMissing of ["reject", "run"] as const) {
      const { send, ran, idem } = await keyed({ idempotency: { key, onMissing } });
      for (let i = 0; i < 2; i++) {
        const decision = await send(data);
        expect(decision).toMatchObject({ kind: "held", runId: null, key: null });
        expect(decision.reason).toMatch(/past 2\^53.*send it as a text/);
      }
      expect(ran).toEqual([]);
      // A person's word starts each of them: neither is taken for the other.
      for (const event of await idem.events.list()) {
        expect(await idem.events.release(event.internalId)).toMatchObject({ kind: "started", key: null });
      }
      await idem.idle();
      expect(ran).toEqual([data, data]);
    }
  });

  test("beside a key that does not depend on it changes nothing", async () => {
    const { send, ran, idem } = await keyed({ idempotency: "event.data.order" });
    expect(await send({ order: 7, id: lost })).toMatchObject({ kind: "started", key: "7" });
    expect(await send({ order: 7, id: lost + 2 })).toMatchObject({ kind: "duplicate-key" });
    await idem.idle();
    expect(ran).toEqual([{ order: 7, id: lost }]);
  });

  test("in the key of a singleton, a rate limit or a debounce: it does not apply, and the decision says so", async () => {
    const key = "event.data.id";
    for (const flow of [
      { singleton: { mode: "skip", key } },
      { rateLimit: { limit: 1, period: "1h", key } },
      { debounce: { period: "1m", key } },
    ]) {
      const { send } = await keyed(flow);
      for (let i = 0; i < 2; i++) {
        const decision = await send({ id: lost });
        expect(decision.kind).toBe("started");
        expect(decision.reason).toMatch(/past 2\^53.*did not apply/);
      }
    }
  });
});

describe("numbers in HTTP bodies", () => {
  const world = async () => {
    const server = await testServer();
    const ran: string[] = [];
    await server.define("book", { event: "erp/paid" }, ({ event }) => ran.push(event.id), {
      idempotency: "event.data.id",
    });
    const decide = async (data: string, name = "erp/paid") => {
      const body = `{"name":"${name}","data":${data}}`;
      const headers = { "content-type": "application/json", "x-idem-decisions": "1" };
      const { json } = await server.ask("/e/dev", { method: "POST", headers, body });
      return json.decisions[0] as { kind: string; key: string | null; reason: string | null };
    };
    return { server, decide };
  };

  test("keep their digits in the key: neighbours past 2^53 are two ids, and each is itself again", async () => {
    const { decide } = await world();
    const ids = ["9007199254740992", "9007199254740993", "12345678901234567890123", "-9007199254740993"];
    for (const id of ids) expect(await decide(`{"id":${id}}`)).toMatchObject({ kind: "started", key: id });
    for (const id of ids) expect(await decide(`{"id":${id}}`)).toMatchObject({ kind: "duplicate-key", key: id });
    // As a text it is another key, as 7 and "7" are.
    expect(await decide('{"id":"9007199254740993"}')).toMatchObject({ kind: "started" });
  });

  test("of more decimals than a double keeps are two keys where their digits differ, and one where only zeros do", async () => {
    const { decide } = await world();
    expect(await decide('{"id":0.12345678901234567890123}')).toMatchObject({ kind: "started" });
    expect(await decide('{"id":0.12345678901234567890124}')).toMatchObject({ kind: "started" });
    expect(await decide('{"id":0.123456789012345678901230}')).toMatchObject({ kind: "duplicate-key" });
    expect(await decide('{"id":7,"rate":0.12345678901234567890123}')).toMatchObject({ kind: "started", key: "7" });
    expect(await decide('{"id":7,"rate":0.12345678901234567890125}')).toMatchObject({
      kind: "duplicate-key",
      key: "7",
    });
  });

  test("that say they were doubles are held", async () => {
    const { decide } = await world();
    expect(await decide('{"id":9007199254740992e0}')).toMatchObject({ kind: "held" });
    expect(await decide('{"id":1e300}')).toMatchObject({ kind: "held" });
  });

  test("make the same key when a webhook delivers them, and a redelivery under another id does not run", async () => {
    const { server, decide } = await world();
    const headers = { "content-type": "application/json" };
    const made = { name: "erp", provider: "generic-hmac", header: "x-sig", secret: "a-secret-of-the-test" };
    const { status } = await server.ask("/api/webhooks", { method: "POST", headers, body: JSON.stringify(made) });
    expect(status).toBe(200);
    const provider = genericHmac({ name: "erp", secrets: [made.secret], header: "x-sig" });
    const deliver = async (body: string) => {
      const bytes = Buffer.from(body);
      const url = `${server.origin}/w/erp`;
      const signed = provider.sign({ secret: made.secret, bytes, url, id: "", type: null, at: 0 });
      return server.ask("/w/erp", { method: "POST", headers: { ...headers, ...signed.headers }, body: bytes });
    };
    await server.define("paid", { event: "erp/event" }, () => null, { idempotency: "event.data.id" });
    for (const at of [1, 2]) await deliver(`{"at":${at},"id":9007199254740993}`);
    await deliver('{"at":3,"id":9007199254740992}');
    const { json } = await server.ask("/api/events?name=erp/event");
    const details = await Promise.all(
      json.events.map(({ internalId }: { internalId: string }) => server.ask(`/api/events/${internalId}`)),
    );
    const decisions = details.map(({ json: { decisions } }) => [decisions[0].kind, decisions[0].key]).sort();
    expect(decisions).toEqual([
      ["duplicate-key", "erp:9007199254740993"],
      ["started", "erp:9007199254740992"],
      ["started", "erp:9007199254740993"],
    ]);
    // Sent another way, it has all its digits as well, in the key of an event that no source delivered.
    await server.define("sent", { event: "erp.event" }, () => null, { idempotency: "event.data.id" });
    const sent = await decide('{"id":9007199254740993}', "erp.event");
    expect(sent).toMatchObject({ kind: "started", key: "9007199254740993" });
  });
});

describe("a text of JSON", () => {
  test("is read with every digit of its long numbers, and with nothing else changed", () => {
    const text = String.raw`{"a":[1,9007199254740993,"9007199254740993","\"9007199254740993"],"b":{"c":1e3},"__proto__":12345678901234567890}`;
    const read = parseWritten(text) as any;
    expect(read.a).toEqual([1, new WrittenNumber("9007199254740993"), "9007199254740993", '"9007199254740993']);
    expect(read.b).toEqual({ c: 1000 });
    expect(Object.getOwnPropertyDescriptor(read, "__proto__")!.value).toEqual(
      new WrittenNumber("12345678901234567890"),
    );
    expect(() => parseWritten('{"a":9007199254740993')).toThrow();
  });

  test("that was made of JavaScript's numbers says which lost their digits, and is the same value", () => {
    const value = { a: 2 ** 60, b: [-(2 ** 53)], c: "1152921504606846976", d: 9007199254740991, e: 0.1234567890123456 };
    const text = markLost(JSON.stringify(value));
    expect(text).toContain('"a":1152921504606847000e0');
    expect(JSON.parse(text)).toEqual(value);
    expect(text.match(/e0/g)).toHaveLength(2);
  });

  test("tells kinds of numbers apart, and one number has one spelling", () => {
    expect(["1", "9007199254740991", "0.1", "0.30000000000000004", "1e3"].map(kindOfNumber)).toEqual(
      Array(5).fill("plain"),
    );
    expect(["9007199254740992", "1e22", "0.1234567890123456789"].map(kindOfNumber)).toEqual([
      "integer",
      "lost",
      "decimal",
    ]);
    expect(["12.50", "1.25e1", "0.125E2", "-0.0"].map(digitsOf)).toEqual(["125e-1", "125e-1", "125e-1", "0"]);
  });
});
