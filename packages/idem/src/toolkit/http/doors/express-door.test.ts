// A handler of Express with its request and its errors, behind a key.
import { createServer } from "node:http";
import express from "express";
import { expect, test } from "vitest";
import { idempotent as onExpress } from "../../../express.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { Platform } from "../../../platform/platform.ts";
import { listening } from "../../../serve/listening.suite.ts";
import { held } from "../../../testing/one-run.suite.ts";
import type { Idempotency } from "../idempotency.ts";
import { keysOf, post, route } from "./asking.suite.ts";

async function expressApp(set: (app: express.Express, keys: Idempotency) => void): Promise<string> {
  const app = express();
  app.set("env", "test");
  set(app, keysOf());
  return listening(createServer(app));
}

test.each([
  [
    "thrown at once",
    () => {
      throw new Error("secret");
    },
  ],
  ["rejected", async () => Promise.reject(new Error("secret"))],
  ["given to next", (_request: unknown, _response: unknown, next: (error: Error) => void) => next(new Error("secret"))],
] as [string, express.RequestHandler][])(
  "what an Express handler fails with is answered by the app's error handler, once: %s",
  async (_name, handle) => {
    let handled = 0;
    const url = await expressApp((app, keys) => {
      app.post("/", onExpress(keys, route), handle);
      app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
        response.status(502).json({ handled: ++handled });
      });
    });
    const first = await post(url, "k");
    const second = await post(url, "k");
    expect([first.status, await first.json()]).toEqual([502, { handled: 1 }]);
    expect([second.status, await second.json(), second.headers.get("idempotent-replayed")]).toEqual([
      502,
      { handled: 1 },
      "true",
    ]);
  },
);

test("a response that was begun and is ended by nobody is given up a minute after its client left", async () => {
  const [watching, timers] = [held(), new Map<number, () => void>()];
  const platform: Platform = {
    ...nodePlatform,
    timer(ms, run, options) {
      if (ms !== 60_000) return nodePlatform.timer(ms, run, options);
      timers.set(ms, run);
      watching.release();
      return { cancel() {} };
    },
  };
  const app = express();
  app.set("env", "test");
  let executed = 0;
  app.post("/", onExpress(keysOf({ platform }), route), (_request, response) => {
    executed++;
    response.write("half of it");
    throw new Error("the printer is on fire");
  });
  const url = await listening(createServer(app));
  // Express itself cuts the connection when a response fails that was begun.
  await expect(post(url, "k")).rejects.toThrow();
  await watching.promise;
  expect((await post(url, "k")).status).toBe(409);
  timers.get(60_000)!();
  expect((await post(url, "k", "{}", { prefer: "wait=10" })).status).toBe(410);
  expect(executed).toBe(1);
});

test("the same path in two routers is two routes, and who asks is found on the framework's own request", async () => {
  const app = express();
  const who: unknown[] = [];
  const keys = keysOf({
    principal: (_request, native) => {
      who.push((native as { user?: string }).user);
      return (native as { user: string }).user;
    },
  });
  for (const name of ["/a", "/b"]) {
    const router = express.Router();
    router.post("/charges", onExpress(keys, route), (_request, response) => void response.send(name));
    app.use(name, (request, _response, next) => next(void Object.assign(request, { user: "alice" })), router);
  }
  const url = await listening(createServer(app));
  expect(await (await post(`${url}/a/charges`, "k")).text()).toBe("/a");
  expect(await (await post(`${url}/b/charges`, "k")).text()).toBe("/b");
  expect(who).toEqual(["alice", "alice"]);
});
