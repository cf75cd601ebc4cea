import { describe, expect, test } from "vitest";
import { IdemError } from "../../../model/errors.ts";
import { statusOf } from "../../../protocol/problem.ts";
import { type Asked, type RouteWorld, routeWorld, wireApp, wireFunction } from "../world.suite.ts";
import { registerApp } from "./register-app.ts";

const register = (made: RouteWorld, body: unknown, asked: Asked = {}) => made.ask(registerApp, { body, ...asked });

const refusal = async (promise: Promise<unknown>): Promise<IdemError> => {
  const error = await promise.then(JSON.stringify, (caught) => caught);
  expect(error).toBeInstanceOf(IdemError);
  expect(statusOf(error.code)).toBe(400);
  return error;
};

const functionsOf = async (made: RouteWorld) =>
  (await made.engine.store.reads.functions("default")).functions.map(({ fn }) => fn);

test("an app registers; registering the same again is not modified, also under another spelling of its address", async () => {
  const made = await routeWorld();
  expect(await register(made, wireApp([wireFunction()]))).toEqual({
    status: 200,
    body: { ok: true, modified: true, status: 200 },
  });
  const again = [
    wireApp([wireFunction()]),
    wireApp([wireFunction()], { featureObservations: { sendEvents: 7 } }),
    wireApp([wireFunction()], { url: "http://localhost:3000/api/inngest?deployId=d2", deployId: "d2" }),
    wireApp([wireFunction()], { url: "http://0.0.0.0:3000/api/inngest" }),
  ];
  for (const body of again) expect((await register(made, body)).body.modified).toBe(false);
  expect(await made.world.apps.list("default")).toMatchObject([
    { app: "shop", url: "http://localhost:3000/api/inngest", functionCount: 1, error: null },
  ]);
});

test("a function that is no longer told is archived, a changed one is modified", async () => {
  const made = await routeWorld();
  await register(made, wireApp([wireFunction(), wireFunction({}, "shop-ship")]));
  expect(await functionsOf(made)).toEqual(["shop-pay", "shop-ship"]);
  expect((await register(made, wireApp([wireFunction()]))).body.modified).toBe(true);
  expect(await functionsOf(made)).toEqual(["shop-pay"]);
  const changed = wireFunction({ triggers: [{ event: "order/*" }] });
  expect((await register(made, wireApp([changed]))).body.modified).toBe(true);
});

test("one function that cannot be registered refuses all of them, with its name and the reason", async () => {
  const made = await routeWorld();
  const body = wireApp([
    wireFunction(),
    wireFunction({ triggers: [{ event: "a", expression: "event.(" }] }, "shop-bad"),
  ]);
  const error = await refusal(register(made, body));
  expect(error.code).toBe("FUNCTION_INVALID");
  expect(error.message).toContain('Function "shop-bad"');
  expect(await functionsOf(made)).toEqual([]);
});

test("a function that another app has is refused", async () => {
  const made = await routeWorld();
  await register(made, wireApp([wireFunction({}, "shop-eu-pay")]));
  const error = await refusal(register(made, wireApp([wireFunction({}, "shop-eu-pay")], { appName: "shop-eu" })));
  expect(error.message).toContain('app "shop" already has');
});

test("an app that moves keeps its functions at its new URL", async () => {
  const made = await routeWorld();
  await register(made, wireApp([wireFunction()]));
  const url = "http://127.0.0.1:4000/api/inngest";
  const steps = { step: { runtime: { type: "http", url: `${url}?fnId=shop-pay&stepId=step` } } };
  expect((await register(made, wireApp([wireFunction({ steps })], { url }))).body.modified).toBe(true);
  expect(await functionsOf(made)).toEqual(["shop-pay"]);
  expect(await made.world.apps.list("default")).toMatchObject([{ url: "http://localhost:4000/api/inngest" }]);
});

describe("an app of an SDK that is too old", () => {
  const old = wireApp([wireFunction({}, "my-shop-pay")], { appName: "My Shop", sdk: "js:v2.7.2" });

  test("is refused with the reason in the response, on the list of apps and once in the log", async () => {
    const made = await routeWorld();
    const error = await refusal(register(made, old));
    await refusal(register(made, old));
    expect(error.code).toBe("SDK_VERSION_UNSUPPORTED");
    expect(error.message).toContain("it uses inngest 2.7.2, and Idem supports 3.12.0 and newer");
    expect(await made.world.apps.list("default")).toMatchObject([
      { url: "http://localhost:3000/api/inngest", functionCount: 0, error: error.message },
    ]);
    expect(made.log.filter((line) => line.includes(error.message))).toHaveLength(1);
    expect(await functionsOf(made)).toEqual([]);
  });

  test("keeps what it registered before, and its error is gone once it is upgraded", async () => {
    const made = await routeWorld();
    await register(made, wireApp([wireFunction()]));
    await refusal(register(made, wireApp([wireFunction({}, "shop-other")], { sdk: "js:v3.11.0" })));
    expect(await functionsOf(made)).toEqual(["shop-pay"]);
    expect(await made.world.apps.list("default")).toMatchObject([
      { app: "shop", error: expect.stringContaining("inngest 3.11.0") },
    ]);
    await register(made, wireApp([wireFunction()], { sdk: "js:v3.12.0" }));
    expect(await made.world.apps.list("default")).toMatchObject([{ app: "shop", error: null }]);
  });
});

describe("the kind of server the app expects", () => {
  const kind = (value: string) => ({ headers: { "x-inngest-expected-server-kind": value } });

  test("is dev for idem dev", async () => {
    const made = await routeWorld();
    expect((await register(made, wireApp([]), kind("dev"))).body.ok).toBe(true);
    const error = await refusal(register(made, wireApp([]), kind("cloud")));
    expect(error).toMatchObject({ code: "SERVER_KIND_MISMATCH" });
    expect(error.message).toContain("INNGEST_DEV=1");
  });

  test("is cloud for idem start", async () => {
    const made = await routeWorld({ mode: "start", allowHosts: ["localhost"] });
    expect((await register(made, wireApp([]), kind("cloud"))).body.ok).toBe(true);
    await refusal(register(made, wireApp([]), kind("dev")));
  });
});

describe("in start an app may not send this server anywhere", () => {
  test("by its own URL", async () => {
    const made = await routeWorld({ mode: "start" });
    const error = await refusal(register(made, wireApp([], { url: "http://169.254.169.254/latest" })));
    expect(error.code).toBe("APP_URL_REFUSED");
    expect((await refusal(register(made, wireApp([])))).message).toContain("--allow-host");
  });

  test("by the URL of one function", async () => {
    const made = await routeWorld({ mode: "start" });
    const error = await refusal(register(made, wireApp([wireFunction()], { url: "https://shop.example/api/inngest" })));
    expect(error.code).toBe("APP_URL_REFUSED");
    expect(await functionsOf(made)).toEqual([]);
  });
});
