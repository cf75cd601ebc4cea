// Recorded responses must not drift from the routes: each is what the route's schema says, and was asked for as the route allows.
import { expect, test } from "vitest";
import type { z } from "zod";
import type { Route } from "../../idem/src/server/route.ts";
import { apiRoutes } from "../../idem/src/server/routes/api-routes.ts";
import { recordedResponses } from "./recorded-server.ts";

const routes = (apiRoutes as readonly Route[]).filter(({ method }) => method === "GET");

function routeAt(path: string): Route {
  const found = routes.find((route) => new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path));
  if (found === undefined) throw new Error(`The server has no route GET ${path}`);
  return found;
}

/** Why a value is not what the schema says; null when it is. What the schema does not know counts, too. */
function misfit(schema: z.ZodType, value: unknown): string | null {
  const read = schema.safeParse(value);
  if (!read.success) return read.error.message;
  const [known, given] = [read.data, value].map((each) => JSON.stringify(sorted(each)));
  return known === given ? null : `the schema knows ${known} of ${given}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sorted(each)]));
}

test("each recorded response is what the schema of its route says, and was asked for as the route allows", () => {
  const misfits = recordedResponses.flatMap(({ request, status, json }) => {
    const { pathname, searchParams } = new URL(request, "http://127.0.0.1");
    const { about } = routeAt(pathname);
    const refused = about?.query?.safeParse(Object.fromEntries(searchParams)).error?.message;
    const why = status === 200 && json !== undefined && about?.answer !== undefined ? misfit(about.answer, json) : null;
    return [refused, why].flatMap((each) => (each == null ? [] : [`${request}: ${each}`]));
  });
  expect(misfits).toEqual([]);
  expect(recordedResponses.length).toBeGreaterThan(100);
});

test("what was refused is recorded with a code, words and what to do", () => {
  const words = expect.any(String);
  for (const { status, json } of recordedResponses.filter((each) => each.status !== 200))
    expect(json).toMatchObject({ status, code: words, detail: words, next: words });
});
