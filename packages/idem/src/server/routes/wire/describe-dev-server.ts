// GET /dev: how older SDKs and tools find a development server (docs/reference/wire.md#paths). `idem start` has no such page.
import { errors } from "../../../model/errors.ts";
import type { FunctionConfig } from "../../../model/function-config.ts";
import { shownName } from "../../../model/function-names.ts";
import { readPackageText } from "../../../platform/package-files.ts";
import { defaultEnv } from "../../admit-caller.ts";
import { json, type Route } from "../../route.ts";

let version: string | null = null;

/** Read once: it does not change while the process runs. */
function packageVersion(): string {
  version ??= (JSON.parse(readPackageText("../package.json")) as { version: string }).version;
  return version;
}

export const describeDevServer: Route = {
  method: "GET",
  path: "/dev",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  async handle({ env, method, path }, world) {
    const { settings } = world;
    if (settings.mode !== "dev") throw errors.ROUTE_UNKNOWN({ method, path });
    // Asked of the store as it is: SDKs look for a server here before there is anything in their environment.
    const { store } = await world.engine(defaultEnv);
    const { functions } = await store.reads.functions(env);
    const apps = world.engines.has(env) ? await world.apps.list(env) : [];
    return json({
      version: packageVersion(),
      authed: false,
      startOpts: { autodiscover: settings.discovery, poll: settings.poll, sdkURLs: settings.sdkUrls },
      functions: functions.map(({ app, config: text }) => {
        const config = JSON.parse(text) as FunctionConfig;
        const { name, triggers } = config;
        const fn = shownName({ app, config });
        return { id: fn, slug: fn, name, triggers };
      }),
      handlers: apps.map(({ app, url, sdk, framework, error }) => ({ appName: app, url, sdk, framework, error })),
      features: {},
    });
  },
};
