// GET /v1/apps/:app/functions: what an app registered.
import type { FunctionConfig } from "../../../model/function-config.ts";
import { shownApp } from "../../../model/function-names.ts";
import { restFunction } from "../../../protocol/rest-shapes.ts";
import { v1Route } from "../../v1-route.ts";

export const listFunctions = v1Route({
  method: "GET",
  path: "/v1/apps/:app/functions",
  handle: async ({ params, engine, env }) => {
    const { functions } = await engine.store.reads.functions(env);
    return functions
      .map((each) => ({ ...each, config: JSON.parse(each.config) as FunctionConfig }))
      .filter((each) => each.app === params.app || shownApp(each) === params.app)
      .map((each) => restFunction(each, env));
  },
});
