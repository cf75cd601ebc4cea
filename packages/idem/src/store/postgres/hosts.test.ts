import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Host } from "./address.ts";
import { faultOf } from "./faults.ts";
import { Hosts } from "./hosts.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { silentProxy } from "./silent-proxy.suite.ts";

const hostNamed = (host: string): Host => ({ host, port: null });
const all = ["a", "b", "c"].map(hostNamed);

describe("of several hosts", () => {
  test("the first that fits is chosen once, for all who ask, until it is doubted", async () => {
    const asked: string[] = [];
    let down = new Set(["a"]);
    const hosts = new Hosts(all, async ({ host }) => {
      asked.push(host);
      if (down.has(host)) throw new Error("it is down");
    });
    expect(await Promise.all([hosts.choose(), hosts.choose()])).toEqual([hostNamed("b"), hostNamed("b")]);
    expect(asked).toEqual(["a", "b"]);
    down = new Set(["b"]);
    expect(await hosts.choose()).toEqual(hostNamed("b"));
    hosts.doubt();
    expect(await hosts.choose()).toEqual(hostNamed("a"));
  });

  test("none that fits is told with what each of them said, and asked again the next time", async () => {
    let isUp = false;
    const hosts = new Hosts(all, async () => {
      if (!isUp) throw Object.assign(new Error("it can only be read"), { code: "25006" });
    });
    await expect(hosts.choose()).rejects.toMatchObject({
      code: "25006",
      message: "none of its hosts fits: a: it can only be read; b: it can only be read; c: it can only be read",
    });
    isUp = true;
    expect(await hosts.choose()).toEqual(hostNamed("a"));
  });
});

test.each([
  ["is down, and another is unknown by name", { code: "ECONNREFUSED" }, { code: "ENOTFOUND" }, "ECONNREFUSED"],
  ["is a standby, and another has another password", { code: "25006" }, { code: "28P01" }, "25006"],
  ["has another password, and so has the other", { code: "28P01" }, { code: "28P01" }, "28P01"],
])("of several hosts the one counts that may be ready in a moment: one %s", async (_, first, second, code) => {
  const refusals = [first, second];
  const hosts = new Hosts([hostNamed("a"), hostNamed("b")], async ({ host }) => {
    throw Object.assign(new Error("no"), refusals[host === "a" ? 0 : 1]);
  });
  await expect(hosts.choose()).rejects.toMatchObject({ code });
});

test("hosts that do not reply in time are tried again, as one is", async () => {
  const hosts = new Hosts(all, async () => {
    throw new Error("timeout expired");
  });
  expect(faultOf(await hosts.choose().catch((error) => error))).toBe("unknown");
});

describe("a store with several hosts", () => {
  let server: LocalPostgres;
  beforeAll(async () => {
    server = await startLocalPostgres();
  });
  afterAll(() => server.remove());

  /** Where nobody listens. */
  async function deadPort(): Promise<string> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await once(listener, "close");
    return String(port);
  }

  const open = async (ports: readonly string[], schema: string) => {
    const places = ports.map((port) => `127.0.0.1:${port}`).join(",");
    const { username, password, pathname } = new URL(server.url);
    const url = `postgres://${username}:${password}@${places}${pathname}?schema=${schema}&target_session_attrs=read-write`;
    const store = await openPostgresStore({ url, pg, platform: nodePlatform, owner: "test", leaseTermMs: 5_000 });
    onTestFinished(() => store.close());
    return store;
  };

  test("works where the first of them is dead, in every kind of session", async () => {
    const store = await open([await deadPort(), new URL(server.url).port], "hosts");
    expect(await store.heartbeat("w1", 5_000)).toMatchObject({ alive: true });
    expect(await store.sweep({ max: 1, repair: false })).toMatchObject({ rescued: 0 });
    expect(await store.reads.environments()).toEqual([]);
  });

  test("goes on with the next one when the one it works with dies", async () => {
    const proxy = await silentProxy(server.url);
    const store = await open([new URL(proxy.url).port, new URL(server.url).port], "moves");
    expect(await store.sweep({ max: 1, repair: false })).toMatchObject({ rescued: 0 });
    expect(proxy.open).toBeGreaterThan(0);
    proxy.die();
    expect(await store.heartbeat("w1", 5_000)).toMatchObject({ alive: true });
    expect(await store.sweep({ max: 1, repair: false })).toMatchObject({ rescued: 0 });
  });

  test("passes over one that can only be read", async () => {
    const standby = await startLocalPostgres({ settings: { default_transaction_read_only: "on" } });
    onTestFinished(() => standby.remove());
    const store = await open([new URL(standby.url).port, new URL(server.url).port], "standby");
    expect(await store.heartbeat("w1", 5_000)).toMatchObject({ alive: true });
  });

  test("of which none can be reached says what each of them said, and no password", async () => {
    const ports = [await deadPort(), await deadPort()];
    const opening = open(ports, "none");
    await expect(opening).rejects.toThrow(new RegExp(`127.0.0.1:${ports[0]}: .*ECONNREFUSED.*127.0.0.1:${ports[1]}: `));
    await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining("idem:idem") });
  });
});
