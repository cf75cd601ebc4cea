import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Route } from "./route.ts";
import { Router, routerOf } from "./router.ts";
import { routes, sockets } from "./routes.ts";

const folder = new URL("./routes/", import.meta.url);
const files = (["api", "v1", "wire"] as const).flatMap((place) =>
  readdirSync(new URL(`${place}/`, folder))
    .filter((name) => name.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(name))
    .map((name) => ({ place, name, url: new URL(`${place}/${name}`, folder) })),
);
const isRoute = (value: unknown): value is Route =>
  typeof value === "object" && value !== null && "handle" in value && "path" in value && "method" in value;
const routesIn = async ({ url }: (typeof files)[number]) =>
  Object.entries((await import(url.href)) as Record<string, unknown>).flatMap(([name, route]) =>
    isRoute(route) ? [{ name, route }] : [],
  );

test("every route that is written stands in the table, and none stands in it twice", async () => {
  const missing: string[] = [];
  for (const file of files) {
    for (const { name, route } of await routesIn(file))
      if (!routes.includes(route)) missing.push(`${file.name}: ${name}`);
  }
  expect(missing).toEqual([]);
  expect(() => routerOf(routes)).not.toThrow();
  expect(() => new Router(sockets, () => "GET")).not.toThrow();
});

const placeOf = (path: string) =>
  path.startsWith("/v1/") ? "v1" : /^\/(e|invoke|w|dev|fn|v0)(\/|$)/.test(path) ? "wire" : "api";

test("a route lies in the folder of whoever speaks it: our own API, the official SDK's /v1, or the wire of apps and events", async () => {
  const astray: string[] = [];
  for (const file of files) {
    for (const { route } of await routesIn(file)) {
      if (placeOf(route.path) !== file.place) astray.push(`${file.place}/${file.name}: ${route.path}`);
    }
  }
  expect(astray).toEqual([]);
});

test("every route that takes a body bounds it, and none that is read with GET takes one", () => {
  for (const { method, path, bodyBytesMax } of routes) {
    if (method === "GET") expect([path, bodyBytesMax]).toEqual([path, null]);
    // Nothing is larger than one request of 5,000 events; bodies are held in memory.
    else if (bodyBytesMax !== null) expect([path, bodyBytesMax <= 64 * 1024 * 1024]).toEqual([path, true]);
  }
});

test("every route of /api says what it reads and answers, for the OpenAPI document", () => {
  const silent = routes.filter(({ path, about }) => path.startsWith("/api/") && about === undefined);
  expect(silent.map(({ path }) => path)).toEqual(["/api/openapi.json"]);
});

// The description of the API, and the route by which people become operators.
const isOpen = (route: string) => ["GET /api/openapi.json", "POST /api/session"].includes(route);

test("what people and tools may change asks for an operator, and what apps say asks for a signing key", () => {
  const wrong = routes.filter(
    ({ method, path, access }) =>
      (path.startsWith("/api/") && access !== "operator" && !isOpen(`${method} ${path}`)) ||
      (/^\/(v0|fn)\//.test(path) && access !== "signing-key"),
  );
  expect(wrong.map(({ method, path, access }) => `${method} ${path} ${access}`)).toEqual([]);
});

test("what changes something over /api says in the audit who did it", () => {
  const silent = files.filter(({ url }) => {
    const text = readFileSync(url, "utf8");
    const changes = /method: "(POST|PUT|PATCH|DELETE)",\n\s*path: "\/api\//.test(text);
    // Either the actor goes down to a store operation that keeps it, or the route keeps it by itself.
    // Routes for viewers change nothing but their own session.
    return changes && !/\bactor\b|\baudit\(|\bviewerMay: true\b/.test(text);
  });
  // An examination reads the whole store and changes nothing; its caller decides how much of it is told.
  expect(silent.map(({ name }) => name)).toEqual([]);
});
