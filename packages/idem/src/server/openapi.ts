// The OpenAPI document, made from the route table: what it says about a route is what the route reads with.
import { z } from "zod";
import { statusOf } from "../protocol/problem.ts";
import type { Route, RouteAbout } from "./route.ts";

type Document = Record<string, unknown>;

const problemSchema = {
  type: "object",
  description: "RFC 9457. `type` leads to a page about the code, `next` says what to do.",
  required: ["type", "title", "status", "detail", "code", "next"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    next: { type: "string" },
  },
};

const wireErrorSchema = {
  type: "object",
  description: "As SDKs read errors.",
  required: ["error", "status"],
  properties: { error: { type: "string" }, status: { type: "integer" }, code: { type: "string" } },
};

/** Routes without `about` are the wire of SDKs, which has a document of its own. */
export function openapiDocument(routes: readonly Route[], version: string): Document {
  const paths: Record<string, Document> = {};
  for (const route of routes) {
    if (route.about === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, route.about) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Idem",
      version,
      description: "Run it twice, it happens once: events, runs, keys, functions and apps of an Idem server.",
    },
    paths,
    components: {
      schemas: { Problem: problemSchema, WireError: wireErrorSchema },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "A signing key of the environment, or its hash." },
        password: { type: "http", scheme: "basic", description: "The operators' password, with any user name." },
      },
    },
  };
}

function operationOf(route: Route, about: RouteAbout): Document {
  const { summary, tag, query, body, answer } = about;
  const error = route.errors === "problem" ? "Problem" : "WireError";
  const errorType = route.errors === "problem" ? "application/problem+json" : "application/json";
  return {
    operationId: operationIdOf(route),
    summary,
    tags: [tag],
    parameters: [...pathParameters(route.path), ...(query === undefined ? [] : queryParameters(query))],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } } }),
    responses: {
      "200": { description: "Done", content: { "application/json": { schema: schemaOf(answer, "output") } } },
      default: {
        description: `Refused, with a code of the errors' list; ${statusOf("SERVER_BUSY")} asks to come again.`,
        content: { [errorType]: { schema: { $ref: `#/components/schemas/${error}` } } },
      },
    },
    ...(route.access === "open"
      ? {}
      : { security: [{ bearer: [] }, ...(route.access === "operator" ? [{ password: [] }] : [])] }),
  };
}

/** `getApiRunsRunId` of GET /api/runs/:runId. */
const operationIdOf = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("");

const pathParameters = (path: string): Document[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));

function queryParameters(query: RouteAbout["query"] & object): Document[] {
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    properties?: Record<string, Document>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function schemaOf(type: RouteAbout["answer"], io: "input" | "output"): Document {
  // A value that JSON Schema has no word for (a transformed one) is shown as anything rather than refused.
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io, unrepresentable: "any" }) as Document;
  return schema;
}
