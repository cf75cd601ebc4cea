import { expect, test } from "vitest";
import { storeReadInputs, storeReadNames } from "../api/store-read-shapes.ts";
import { routes } from "../routes.ts";
import { Chance } from "./chance.suite.ts";
import { sampledBody, sampledQuery } from "./samples.suite.ts";

test("of every route that describes itself the fuzz test makes bodies and queries that it takes", () => {
  const chance = new Chance(7);
  const tries = Array.from({ length: 60 });
  const untaken = routes.flatMap((route) => {
    const { body, query } = route.about ?? {};
    const takes = (made: () => unknown, schema: typeof body) =>
      schema === undefined || tries.some(() => schema.safeParse(made()).success);
    return [
      ...(takes(() => sampledBody(route, route.path, chance), body) ? [] : [`body of ${route.method} ${route.path}`]),
      ...(takes(() => Object.fromEntries(sampledQuery(route, chance)), query) ? [] : [`query of ${route.path}`]),
    ];
  });
  const store = routes.find(({ path }) => path === "/api/store/:read")!;
  const unread = storeReadNames.filter((read) => {
    const input = () => (sampledBody(store, `/api/store/${read}`, chance) as { input: unknown }).input;
    return !tries.some(() => storeReadInputs[read].safeParse(input()).success);
  });
  expect([...untaken, ...unread]).toEqual([]);
});
