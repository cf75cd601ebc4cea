// Figures of an embedded engine where its dashboard is mounted: for scrapers and for probes.
import { expect, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { mounted } from "./mounted.suite.ts";

const knows = (request: Request) => (request.headers.get("authorization") === "Bearer scraper" ? "viewer" : null);

test("metrics of a mounted client are for those whom authorize lets in, and count from the opening of the store", async () => {
  const { idem, ask } = mounted({ authorize: knows });
  await idem.start();
  await idem.send({ name: "placement/saved", data: { placementId: 7 } });
  await idem.send({ name: "placement/saved", data: { placementId: 7 } });
  await idem.idle();
  expect((await ask("/idem/metrics")).status).toBe(403);
  const told = await ask("/idem/metrics", { headers: { authorization: "Bearer scraper" } });
  expect([told.status, told.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  for (const line of [
    'idem_events_accepted_total{env="default"} 2',
    'idem_suppressed_duplicates_total{env="default",layer="function-key"} 1',
    'idem_runs{env="default",state="parked"} 0',
  ]) {
    expect(told.text.split("\n")).toContain(line);
  }
  expect(await idem.metrics()).toContain('idem_events_accepted_total{env="default"} 2\n');
});

test("a probe needs no session: it learns whether the client can do its work, and which part cannot", async () => {
  const store = new MemoryStore(nodePlatform);
  const tick = store.tick.bind(store);
  let isAway = false;
  store.tick = async (input) => {
    if (isAway) throw new Error("connect ECONNREFUSED 10.0.0.7:5432");
    return tick(input);
  };
  const { idem, ask } = mounted({ authorize: knows }, { store });
  await idem.start();
  const health = async () => {
    const { status, json } = await ask("/idem/health");
    return { status, json };
  };
  expect(await health()).toEqual({ status: 200, json: { status: 200, message: "OK" } });
  expect(await idem.health()).toEqual({ isReady: true, reasons: [] });
  isAway = true;
  const why = "the store does not take operations";
  const reasons = [{ part: "store", why, code: "SERVER_FAILED" }];
  expect(await health()).toEqual({ status: 503, json: { status: 503, message: why, code: "SERVER_FAILED", reasons } });
  expect(await idem.health()).toEqual({ isReady: false, reasons });
  expect((await ask("/idem/health/live")).status).toBe(200);
  isAway = false;
  expect((await health()).status).toBe(200);
  await idem.stop();
  expect(await health()).toMatchObject({ status: 503, json: { reasons: [{ part: "client" }] } });
  // In dev it is this machine's alone, as everything is.
  const inDev = mounted({ dev: true });
  expect((await inDev.ask("/idem/health")).status).toBe(403);
  // Nothing else is open without a session.
  for (const path of ["/idem/", "/idem/api/runs", "/idem/metrics", "/idem/health/else"]) {
    expect((await ask(path)).status, path).toBe(403);
  }
});
