import { describe, expect, test } from "vitest";
import { openapiDocument } from "../openapi.ts";
import { routes } from "../routes.ts";

const apiRoutes = routes.filter(({ about }) => about !== undefined);

describe("the OpenAPI document", () => {
  const document = openapiDocument(routes, "0.0.0") as any;

  test.each(apiRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))("describes %s", (_, route) => {
    const operation = document.paths[route.path.replaceAll(/:(\w+)/g, "{$1}")][route.method.toLowerCase()];
    expect(operation.summary.length).toBeGreaterThan(5);
    expect(operation.responses["200"].content["application/json"].schema).toBeDefined();
  });

  test("says of a query parameter what it may be", () => {
    const { parameters } = document.paths["/api/runs"].get;
    const named = (name: string) => parameters.find((each: any) => each.name === name);
    expect(named("limit")).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 500, default: 50 },
    });
    expect(named("state").schema.enum).toContain("waiting");
    expect(named("since").description).toContain("ISO 8601");
  });
});

test("reading a body is never needed to list or read something", () => {
  for (const { method, about } of apiRoutes) if (method === "GET") expect(about!.body).toBeUndefined();
});
