// The door of SvelteKit with the real package: its types, and what its `json`, `error` and `redirect` give and throw. `npm run quickstarts -- sveltekit`
// builds and starts an application of it.
import { error, json, type RequestEvent, type RequestHandler, redirect } from "@sveltejs/kit";
import { expect, test } from "vitest";
import { Idem } from "../../packages/idem/src/sdk/client.ts";
import { asHandler, idempotent, serve } from "../../packages/idem/src/sveltekit.ts";
import { keysOf, route } from "../../packages/idem/src/toolkit/http/doors/asking.suite.ts";

const eventOf = (path: string, init: RequestInit = {}): RequestEvent =>
  ({
    request: new Request(`http://127.0.0.1${path}`, init),
    getClientAddress: () => "127.0.0.1",
    locals: { account: "ann" },
  }) as unknown as RequestEvent;

const post = (path: string, key: string): RequestEvent =>
  eventOf(path, { method: "POST", headers: { "idempotency-key": key }, body: '{"amount":1}' });

test("the handlers are request handlers of SvelteKit; functions are served to this machine in dev", async () => {
  const idem = new Idem({ id: "shop", logger: { debug() {}, info() {}, warn() {}, error() {} } });
  idem.createFunction({ id: "fn" }, { event: "test/go" }, () => {});
  const { GET, PUT, POST } = serve(idem, { dev: true }) satisfies Record<"GET" | "PUT" | "POST", RequestHandler>;
  expect([PUT, POST].map((each) => typeof each)).toEqual(["function", "function"]);
  const described = await GET(eventOf("/api/idem"));
  expect([described.status, ((await described.json()) as { function_count: number }).function_count]).toEqual([200, 1]);
  const far = { ...eventOf("/api/idem"), getClientAddress: () => "203.0.113.9" };
  expect((await GET(far)).status).toBe(403);
  const unknown = { ...eventOf("/api/idem"), getClientAddress: () => raise("the adapter does not know") };
  expect((await GET(unknown)).status).toBe(200);
});

test("a handler behind a key has its event, runs once, and what it answers is replayed", async () => {
  let executed = 0;
  const keys = keysOf({ principal: (_request, native) => (native as { locals: { account: string } }).locals.account });
  const POST: RequestHandler = idempotent(keys, route, async ({ request, locals }: RequestEvent, { attempt }) =>
    json([++executed, await request.json(), locals, attempt], { status: 201 }),
  );
  const [first, second] = [await POST(post("/charges", "k")), await POST(post("/charges", "k"))];
  const body = await first.text();
  expect([first.status, JSON.parse(body)]).toEqual([201, [1, { amount: 1 }, { account: "ann" }, 1]]);
  expect([second.status, await second.text()]).toEqual([201, body]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
});

test.each([
  ["error(404)", () => error(404, "no such order"), 404, null, "no such order"],
  ["error(500) after effects", () => error(500, "the printer burns"), 500, null, "the printer burns"],
  ["redirect", () => redirect(303, "/orders/1"), 303, "/orders/1", null],
] as const)(
  "what %s throws is the answer, and the handler does not run again for a retry",
  async (_name, raising, status, location, message) => {
    let executed = 0;
    const POST = idempotent(keysOf(), route, () => {
      executed++;
      return raising();
    });
    for (const replayed of [null, "true"]) {
      const answer = await POST(post("/charges", "k"));
      const found = [answer.status, answer.headers.get("location"), answer.headers.get("idempotent-replayed")];
      expect(found).toEqual([status, location, replayed]);
      const text = await answer.text();
      expect(text === "" ? null : JSON.parse(text).message).toBe(message);
    }
    expect(executed).toBe(1);
  },
);

test("an error that is thrown before effects frees its key", async () => {
  const POST = idempotent(keysOf(), route, async (_event, { beforeEffects }) => {
    await beforeEffects(() => error(503, "later"));
    return new Response();
  });
  const answer = await POST(post("/charges", "k"));
  expect([answer.status, answer.headers.get("idempotency-status")]).toEqual([503, "released"]);
});

test("the dashboard is a fallback of SvelteKit, for this machine in dev", async () => {
  const idem = new Idem({ id: "shop", store: "memory:" });
  const fallback: RequestHandler = asHandler(idem.dashboard({ base: "/idem", dev: true }));
  expect((await fallback({ ...eventOf("/idem"), getClientAddress: () => "203.0.113.9" })).status).toBe(403);
});

const raise = (why: string): never => {
  throw new Error(why);
};
