import { afterEach, describe, expect, test } from "vitest";
import type { HttpCalls } from "../platform/node-http.ts";
import type { Store } from "../store/store.ts";
import { usualPaths, usualPorts } from "./discover-apps.ts";
import { registerApp } from "./routes/wire/register-app.ts";
import { type RouteWorld, routeWorld, wireApp, wireFunction } from "./routes/world.suite.ts";
import { type Syncing, startSyncing } from "./sync-apps.ts";
import type { ServerSettings } from "./world.ts";

/** Listeners of this machine: functions of an app by URL, or null for something that is no app. */
class Machine implements HttpCalls {
  readonly listening = new Map<string, { app: string; functions: string[] } | null>();
  readonly asked: string[] = [];
  sdk = "js:v4.24.0";

  async call({ url, method }: { url: string; method: string }) {
    this.asked.push(`${method} ${url}`);
    const { origin } = new URL(url);
    const sdk = { "x-inngest-sdk": `inngest-${this.sdk}` };
    const isOpen = [...this.listening.keys()].some((each) => each.startsWith(`${origin}/`));
    if (!isOpen) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const app = this.listening.get(url);
    if (app === undefined || app === null) return { status: 404, headers: {}, body: "" };
    if (method === "GET") return { status: 200, headers: sdk, body: "{}" };
    const functions = app.functions.map((id) => wireFunction(stepAt(url), `${app.app}-${id}`));
    const body = JSON.stringify({
      app_id: app.app,
      url,
      functions,
      sdk: this.sdk,
      inspection: { at: this.asked.length },
    });
    return { status: 200, headers: { ...sdk, "x-inngest-sync-kind": "in_band" }, body };
  }

  close(): void {}

  take(): string[] {
    return this.asked.splice(0);
  }
}

const stepAt = (url: string) => ({ steps: { step: { runtime: { type: "http", url } } } });

const shopUrl = "http://localhost:3000/api/inngest";
const otherUrl = "http://localhost:3001/api/inngest";

let syncing: Syncing | null = null;
afterEach(async () => {
  await syncing?.stop();
  syncing = null;
});

async function begin(settings: Partial<ServerSettings>, machine = new Machine(), store?: Store) {
  const made = await routeWorld(settings, store);
  const registered: string[] = [];
  const register = made.world.apps.register.bind(made.world.apps);
  made.world.apps.register = async (env, registration) => {
    registered.push(`${registration.app} ${registration.functions.map(({ config }) => config.id)}`);
    return register(env, registration);
  };
  syncing = startSyncing(made.world, machine);
  await settle();
  const round = async () => {
    made.platform.clock.advance(5_000);
    // Rounds are housekeeping: a manual clock does not stop for them.
    await made.platform.advance(0, settle);
  };
  return { made, machine, registered, round };
}

const settle = async () => {
  for (let i = 0; i < 100; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

const appsOf = async (made: RouteWorld) =>
  (await made.world.apps.list("default")).map(({ app, url, error }) => [app, url, error === null]);

describe("URLs given at start", () => {
  test("are asked until the app is up, with the reason said once", async () => {
    const { made, machine, registered, round } = await begin({ sdkUrls: ["http://127.0.0.1:3000/api/inngest"] });
    await round();
    await round();
    expect(machine.take()).toEqual([`PUT ${shopUrl}`, `PUT ${shopUrl}`, `PUT ${shopUrl}`]);
    expect(made.log.filter((line) => line.includes("nothing listens there"))).toHaveLength(1);
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    await round();
    expect(registered).toEqual(["shop pay"]);
    expect(made.log.at(-1)).toContain(`app "shop" at ${shopUrl} answers; its functions are registered`);
    machine.take();
    await round();
    expect(machine.take()).toEqual([]);
  });
});

describe("known apps", () => {
  test("are asked every 5 s; what changed is registered, what did not is left alone", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const { made, registered, round } = await begin({ poll: true, sdkUrls: [shopUrl] }, machine);
    await round();
    await round();
    expect(machine.take()).toHaveLength(3);
    expect(registered).toEqual(["shop pay"]);
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay", "ship"] });
    await round();
    await round();
    expect(registered).toEqual(["shop pay", "shop pay,ship"]);
    machine.listening.set(shopUrl, { app: "shop", functions: ["ship"] });
    await round();
    const { functions } = await made.engine.store.reads.functions("default");
    expect(functions.map(({ fn }) => fn)).toEqual(["shop-ship"]);
  });

  test("that registered by themselves just now are not asked", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const { made, round } = await begin({ poll: true }, machine);
    made.platform.clock.advance(4_000);
    await made.ask(registerApp, { body: wireApp([wireFunction()]) });
    made.platform.clock.advance(1_000);
    await made.platform.advance(0, settle);
    expect(machine.take()).toEqual([]);
    await round();
    expect(machine.take()).toEqual([`PUT ${shopUrl}`]);
  });

  test("that went away are shown as such, said once, and welcomed back", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const { made, round } = await begin({ poll: true, sdkUrls: [shopUrl] }, machine);
    machine.listening.delete(shopUrl);
    await round();
    await round();
    expect(await appsOf(made)).toEqual([["shop", shopUrl, false]]);
    expect(made.log.filter((line) => line.includes("nothing listens there"))).toHaveLength(1);
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    await round();
    expect(await appsOf(made)).toEqual([["shop", shopUrl, true]]);
    expect(made.log.at(-1)).toContain("answers; its functions are unchanged");
  });

  test("a slow one holds up nobody but itself", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const call = machine.call.bind(machine);
    machine.call = async (request) => {
      if (request.url === otherUrl) {
        machine.asked.push(`PUT ${otherUrl}`);
        return new Promise((_, reject) => (request as any).signal.addEventListener("abort", () => reject(new Error())));
      }
      return call(request);
    };
    const { round } = await begin({ poll: true, sdkUrls: [shopUrl, otherUrl] }, machine);
    await round();
    expect(machine.take()).toEqual([`PUT ${shopUrl}`, `PUT ${otherUrl}`, `PUT ${shopUrl}`]);
  });
});

describe("discovery", () => {
  test("finds apps on the usual ports and paths, and leaves closed ports after one try", async () => {
    const machine = new Machine();
    machine.listening.set("http://localhost:8787/x/inngest", { app: "edge", functions: ["pay"] });
    const { made, registered } = await begin({ discovery: true }, machine);
    expect(registered).toEqual(["edge pay"]);
    expect(await appsOf(made)).toEqual([["edge", "http://localhost:8787/x/inngest", true]]);
    const probes = machine.take().filter((each) => each.startsWith("GET"));
    expect(probes).toHaveLength(usualPorts.length + usualPaths.indexOf("/x/inngest"));
    // A person who wonders why an app is not found reads what was there.
    const answers = new Map(syncing?.tried().map(({ port, answered }) => [port, answered]));
    expect([answers.get(8787), answers.get(3000), answers.size]).toEqual(["sdk", "nobody", usualPorts.length]);
    expect(probes).toContain(`GET https://localhost:443${usualPaths[0]}`);
  });

  test("refuses an app of an SDK that is too old, says so once, and takes it when it is upgraded", async () => {
    const machine = new Machine();
    machine.sdk = "js:v3.11.0";
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const { made, registered, round } = await begin({ discovery: true }, machine);
    await round();
    await round();
    const why = `App "${shopUrl}" cannot be registered: it uses inngest 3.11.0`;
    expect(registered).toEqual([]);
    expect(made.log.filter((line) => line.includes(why))).toHaveLength(1);
    expect(await made.world.apps.list("default")).toMatchObject([
      { url: shopUrl, functionCount: 0, error: expect.stringContaining(why) },
    ]);
    machine.sdk = "js:v3.12.0";
    await round();
    expect(registered).toEqual(["shop pay"]);
    expect(await appsOf(made)).toEqual([["shop", shopUrl, true]]);
  });

  test("asks neither itself nor ports whose app is known", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const made = await routeWorld({ discovery: true, sdkUrls: [shopUrl] });
    const world = { ...made.world, origin: "http://127.0.0.1:8080" };
    syncing = startSyncing(world, machine);
    await settle();
    const ports = new Set(
      machine
        .take()
        .filter((each) => each.startsWith("GET"))
        .map((each) => new URL(each.slice(4)).port),
    );
    expect(ports.has("3001")).toBe(true);
    expect(ports.has("3000")).toBe(false);
    expect(ports.has("8080")).toBe(false);
  });

  test("asks a port that is something else ever more rarely, and anew once it was closed", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, null);
    const { round } = await begin({ discovery: true }, machine);
    const asks = async (rounds: number) => {
      machine.take();
      const counts: number[] = [];
      for (let i = 0; i < rounds; i++) {
        await round();
        counts.push(machine.take().filter((each) => each.includes(":3000/")).length);
      }
      return counts;
    };
    expect(await asks(7)).toEqual([0, 5, 0, 0, 0, 5, 0]);
    machine.listening.delete(shopUrl);
    for (let i = 0; i < 20; i++) await round();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    expect((await asks(1))[0]).toBe(2);
  });

  test("an app that answers at a second URL keeps its first, and moves when that is gone", async () => {
    const machine = new Machine();
    machine.listening.set(shopUrl, { app: "shop", functions: ["pay"] });
    const { made, round } = await begin({ discovery: true, poll: true }, machine);
    machine.listening.set(otherUrl, { app: "shop", functions: ["pay"] });
    await round();
    await round();
    expect(await appsOf(made)).toEqual([["shop", shopUrl, true]]);
    expect(made.log.filter((line) => line.includes(`also answers at ${otherUrl}`))).toHaveLength(1);
    machine.listening.delete(shopUrl);
    await round();
    await round();
    expect(await appsOf(made)).toEqual([["shop", otherUrl, true]]);
    const { functions } = await made.engine.store.reads.functions("default");
    expect(functions.map(({ fn }) => fn)).toEqual(["shop-pay"]);
  });

  test("after a restart an app that came up elsewhere is followed", async () => {
    const before = await routeWorld();
    await before.ask(registerApp, { body: wireApp([wireFunction()]) });
    const machine = new Machine();
    machine.listening.set(otherUrl, { app: "shop", functions: ["pay"] });
    const { made } = await begin({ discovery: true, poll: true }, machine, before.engine.store);
    expect((await appsOf(made)).filter(([app]) => app === "shop")).toEqual([["shop", otherUrl, true]]);
  });

  test("never looks around in start", async () => {
    const { machine } = await begin({ discovery: true, mode: "start" });
    expect(machine.take()).toEqual([]);
  });
});

test("after stop nobody is asked any more", async () => {
  const machine = new Machine();
  const { round } = await begin({ discovery: true, poll: true, sdkUrls: [shopUrl] }, machine);
  await syncing!.stop();
  machine.take();
  await round();
  expect(machine.take()).toEqual([]);
});
