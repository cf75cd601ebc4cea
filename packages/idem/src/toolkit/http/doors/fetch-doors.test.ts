// The doors of Hono and Next.js leave intact what their frameworks give a handler.
import { Hono } from "hono";
import { expect, test } from "vitest";
import { idempotent as onHono } from "../../../hono.ts";
import { type KeyedRouteContext, idempotent as onNext } from "../../../next.ts";
import { keysOf, route } from "./asking.suite.ts";

const asked = (body: string | FormData, headers: Record<string, string> = {}) =>
  new Request("http://shop.test/charges", {
    method: "POST",
    headers: { "idempotency-key": "k", ...headers },
    body,
  });

test("a Hono body that a validator has read before is compared by its bytes", async () => {
  const app = new Hono();
  let executed = 0;
  app.use(async (c, next) => {
    await c.req.json();
    await next();
  });
  app.post("/charges", onHono(keysOf(), route), async (c) => c.json([++executed, await c.req.json()]));
  expect(await (await app.fetch(asked('{"a":1}'))).json()).toEqual([1, { a: 1 }]);
  expect((await app.fetch(asked('{"a":1}'))).headers.get("idempotent-replayed")).toBe("true");
  expect((await app.fetch(asked('{"a":2}'))).status).toBe(422);
});

test("a Hono body that was read past Hono is refused, with the way out", async () => {
  const app = new Hono();
  const told: unknown[] = [];
  app.onError((error, c) => {
    told.push(error);
    return c.text("failed", 500);
  });
  app.use(async (c, next) => {
    await c.req.raw.formData();
    await next();
  });
  let executed = 0;
  app.post("/charges", onHono(keysOf(), route), (c) => c.json(++executed));
  const form = new FormData();
  form.set("a", "1");
  expect((await app.fetch(asked(form))).status).toBe(500);
  expect(told).toMatchObject([{ code: "BODY_ALREADY_READ" }]);
  expect(executed).toBe(0);
});

test("a Hono form that was parsed before is compared by its parts", async () => {
  const app = new Hono();
  let executed = 0;
  app.use(async (c, next) => {
    await c.req.parseBody();
    await next();
  });
  app.post("/charges", onHono(keysOf(), route), async (c) => c.json([++executed, await c.req.parseBody()]));
  const form = (value: string) => {
    const form = new FormData();
    form.set("a", value);
    return form;
  };
  expect(await (await app.fetch(asked(form("1")))).json()).toEqual([1, { a: "1" }]);
  expect((await app.fetch(asked(form("1")))).headers.get("idempotent-replayed")).toBe("true");
  expect((await app.fetch(asked(form("2")))).status).toBe(422);
});

test("Hono middleware in front of the door sees one response, with the headers of both", async () => {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.res.headers.set("x-status", c.res.headers.get("idempotency-status") ?? "");
  });
  app.post("/charges", onHono(keysOf(), route), (c) => c.json(1, 201, { "x-own": "1" }));
  const first = await app.fetch(asked("{}"));
  expect([first.status, first.headers.get("x-own"), first.headers.get("x-status")]).toEqual([201, "1", "executed"]);
  const second = await app.fetch(asked("{}"));
  expect([second.status, second.headers.get("x-own"), second.headers.get("x-status")]).toEqual([201, null, "replayed"]);
});

test("a Next.js handler has the framework's own request and parameters beside its key", async () => {
  class NextRequest extends Request {
    readonly cookies = { user: "alice" };
  }
  type Given = KeyedRouteContext<{ params: Promise<{ id: string }> }>;
  const keys = keysOf({ principal: (_request, native) => (native as NextRequest).cookies.user });
  const POST = onNext(keys, route, async (request: NextRequest, context: Given) =>
    Response.json([
      (await context.params).id,
      request.cookies.user,
      await request.json(),
      context.idempotency.attempt,
      context.idempotency.destinationKey("stripe") !== context.idempotency.destinationKey("mail"),
    ]),
  );
  const call = () => POST(new NextRequest(asked('{"a":1}')), { params: Promise.resolve({ id: "7" }) });
  expect(await (await call()).json()).toEqual(["7", "alice", { a: 1 }, 1, true]);
  expect((await call()).headers.get("idempotent-replayed")).toBe("true");
});

test.each([
  ["redirect()", "NEXT_REDIRECT;replace;/orders/1;x;307;", 307, "/orders/1;x"],
  ["permanentRedirect()", "NEXT_REDIRECT;replace;/orders/1;308;", 308, "/orders/1"],
  ["notFound()", "NEXT_HTTP_ERROR_FALLBACK;404", 404, null],
])(
  "what %s of Next.js throws is the answer, and the handler does not run again for a retry",
  async (_name, digest, status, location) => {
    let executed = 0;
    const POST = onNext(keysOf(), route, () => {
      executed++;
      throw Object.assign(new Error(digest), { digest });
    });
    for (const replayed of [null, "true"]) {
      const answer = await POST(asked("{}"), {});
      const found = [answer.status, answer.headers.get("location"), answer.headers.get("idempotent-replayed")];
      expect(found).toEqual([status, location, replayed]);
    }
    expect(executed).toBe(1);
  },
);

test("another error with a digest is a failure, as without one", async () => {
  const POST = onNext(keysOf(), route, () => {
    throw Object.assign(new Error("no"), { digest: "2387465" });
  });
  expect((await POST(asked("{}"), {})).status).toBe(500);
});
