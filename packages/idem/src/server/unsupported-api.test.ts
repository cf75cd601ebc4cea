import { expect, test } from "vitest";
import { routes } from "./routes.ts";
import { testServer } from "./test-server.suite.ts";
import { anyRoute, graphqlReplacements, restV2Replacements, unsupportedApi } from "./unsupported-api.ts";

test("every route that is named as a replacement is in the table of routes", () => {
  const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const named = [anyRoute, ...graphqlReplacements, ...restV2Replacements.map(({ instead }) => instead)];
  expect(named.filter((route) => !known.has(route))).toEqual([]);
});

test.each([
  ["GET", "/v2/runs/01ABC", "GET /v1/runs/:run"],
  ["GET", "/api/v2/runs/01ABC/trace", "GET /api/runs/:run"],
  ["POST", "/v2/runs/01ABC/cancel", "DELETE /v1/runs/:run"],
  ["POST", "/v2/events", "POST /e/:key"],
  ["GET", "/v2/events/01ABC/runs/", "GET /v1/events/:event/runs"],
  ["POST", "/api/v2/apps/shop/functions/charge/invoke", "POST /invoke/:slug"],
  ["POST", "/v2/sandboxes", "GET /api/openapi.json"],
  ["GET", "/v2", "GET /api/openapi.json"],
  ["POST", "/v0/gql", "GET /v1/events, GET /v1/runs/:run, GET /api/runs"],
  ["POST", "/gql", "GET /v1/events, GET /v1/runs/:run, GET /api/runs"],
  ["GET", "/graphql", "GET /v1/events, GET /v1/runs/:run, GET /api/runs"],
])("%s %s is answered with %s", (method, path, instead) => {
  expect(unsupportedApi(method, path)?.instead).toBe(instead);
});

test.each(["/v2x/runs", "/api/runs", "/v1/runs/v2", "/graphql/more", "/x/v2/runs"])("%s is of no other API", (path) => {
  expect(unsupportedApi("GET", path)).toBeNull();
});

test("REST v2 and GraphQL get 404 with a problem that names the route to use, also in a browser", async () => {
  const server = await testServer();
  const accept = "text/html";
  const read = await server.ask("/v2/runs/01ABC", { headers: { accept } });
  expect([read.status, read.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  expect(read.json).toMatchObject({
    code: "API_UNSUPPORTED",
    detail: "GET /v2/runs/01ABC belongs to Inngest's REST API v2, which Idem does not serve: use GET /v1/runs/:run",
  });
  const query = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"query":"{ apps { id } }"}',
  };
  for (const path of ["/v0/gql", "/gql", "/graphql"]) {
    const { status, json } = await server.ask(path, query);
    expect([path, status, json.code]).toEqual([path, 404, "API_UNSUPPORTED"]);
  }
});
