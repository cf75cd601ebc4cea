// A store knows a function under one name. Where that is none of those its code says it had, going on would leave runs, windows and schedules behind
// under a name that nobody asks for: the registration is refused, and whoever has the function goes on with it.
import type { Code } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { allNames, shownApp, shownName } from "../model/function-names.ts";
import type { RegisteredFunction } from "../store/functions.ts";

/** Throws FUNCTION_WAS_CONFLICT. `app` is the one that rows name. */
export function refuseOtherNames(
  app: string,
  codes: readonly Code[],
  formerApps: readonly string[],
  registered: readonly RegisteredFunction[],
): void {
  const living = registered.map(({ config, ...row }) => ({ ...row, config: JSON.parse(config) as FunctionConfig }));
  for (const code of codes.filter(({ config }) => config.was !== undefined)) {
    const { fn, config } = code;
    const named = { fn, app, config };
    const apps = new Set([app, shownApp(named), ...formerApps]);
    const names = allNames(named);
    const recorded = new Set(config.was);
    for (const row of living.filter((each) => apps.has(each.app) && !recorded.has(each.fn))) {
      // Another function of this registration has it.
      if (codes.some((other) => other !== code && (other.fn === row.fn || other.config.was?.includes(row.fn))))
        continue;
      const shared = allNames(row).find((name) => names.includes(name));
      if (shared === undefined) continue;
      const first = row.fn === shownName(named) ? `lists it too, last` : `begins with it`;
      const why = `the store has "${shared}" under "${row.fn}", which \`was\` does not name: what is recorded there would be left behind unless \`was\` ${first}`;
      throw errors.FUNCTION_WAS_CONFLICT({ function: config.id, why });
    }
  }
}
