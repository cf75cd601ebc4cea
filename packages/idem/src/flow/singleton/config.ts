// At most one open run for a key.
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readKey } from "../read-option.ts";

export interface SingletonOptions {
  /** Whether the new event is skipped, or the run that is open is cancelled for it. */
  readonly mode: "skip" | "cancel";
  /** CEL over `event`: one open run for each value. */
  readonly key?: string;
}

export interface SingletonConfig {
  readonly mode: "skip" | "cancel";
  readonly key: string | null;
}

export const singleton: FlowOption<SingletonConfig> = {
  written: "singleton",
  byOneEvent: true,
  read(value) {
    const { mode, key } = fieldsOf(value, "singleton", ["mode", "key"]);
    if (mode !== "skip" && mode !== "cancel") {
      const why = 'it must be "skip", to keep the run that is open, or "cancel", to cancel it for the new one';
      throw errors.OPTION_INVALID({ option: "singleton.mode", why });
    }
    return { mode, key: readKey(key, "singleton") };
  },
  refuseUnknown: (where, value) => refuseUnknown<SingletonOptions>(where, value, { mode: true, key: true }),
};
