// REST v2 and GraphQL of Inngest are not served. Scripts that call them learn which route of ours does the same.

interface Replacement {
  /** Null for any method. */
  readonly method: string | null;
  /** Of the path behind `/v2` or `/api/v2`. */
  readonly path: RegExp;
  readonly instead: string;
}

// The first that fits is named; a test compares every route here with the table of routes.
export const restV2Replacements: readonly Replacement[] = [
  { method: "POST", path: /^\/events$/, instead: "POST /e/:key" },
  { method: null, path: /^\/events\/[^/]+\/runs$/, instead: "GET /v1/events/:event/runs" },
  { method: null, path: /^\/events\/[^/]+$/, instead: "GET /v1/events/:event" },
  { method: null, path: /^\/events$/, instead: "GET /v1/events" },
  { method: null, path: /^\/runs\/[^/]+\/rerun$/, instead: "POST /api/runs/:run/rerun" },
  { method: null, path: /^\/runs\/[^/]+\/cancel$/, instead: "DELETE /v1/runs/:run" },
  { method: "DELETE", path: /^\/runs\/[^/]+$/, instead: "DELETE /v1/runs/:run" },
  { method: null, path: /^\/runs\/[^/]+\/trace$/, instead: "GET /api/runs/:run" },
  { method: null, path: /^\/runs\/[^/]+$/, instead: "GET /v1/runs/:run" },
  { method: null, path: /^\/runs$/, instead: "GET /api/runs" },
  { method: null, path: /^\/apps\/[^/]+\/functions\/[^/]+\/invoke$/, instead: "POST /invoke/:slug" },
  { method: null, path: /^\/apps\/[^/]+\/functions(\/|$)/, instead: "GET /v1/apps/:app/functions" },
  { method: null, path: /^\/apps\/[^/]+\/syncs$/, instead: "POST /api/apps" },
  { method: null, path: /^\/apps(\/|$)/, instead: "GET /api/apps" },
  { method: null, path: /^\/webhooks(\/|$)/, instead: "GET /api/webhooks" },
  { method: null, path: /^\/health$/, instead: "GET /health" },
];

const restV2 = /^\/(?:api\/)?v2(?=\/|$)(.*)$/s;
const graphql = /^\/(?:v0\/gql|gql|graphql)\/?$/;
/** The description of everything there is, for calls without a counterpart. */
export const anyRoute = "GET /api/openapi.json";
/** One query of GraphQL may be about anything; these are what it is used for most. */
export const graphqlReplacements = ["GET /v1/events", "GET /v1/runs/:run", "GET /api/runs"] as const;

/** Null for a path of no other API. */
export function unsupportedApi(
  method: string,
  path: string,
): { readonly api: string; readonly instead: string } | null {
  if (graphql.test(path)) return { api: "Inngest's GraphQL API", instead: graphqlReplacements.join(", ") };
  const [, rest] = restV2.exec(path) ?? [];
  if (rest === undefined) return null;
  const local = rest.length > 1 && rest.endsWith("/") ? rest.slice(0, -1) : rest;
  const found = restV2Replacements.find((each) => (each.method ?? method) === method && each.path.test(local));
  return { api: "Inngest's REST API v2", instead: found?.instead ?? anyRoute };
}
