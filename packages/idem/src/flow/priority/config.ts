// CEL over `event`: seconds by which a run is put before others of its function, or behind them.
import { readExpression } from "../../model/function-options.ts";
import { isJsonObject } from "../../model/json.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf } from "../read-option.ts";

export interface PriorityOptions {
  /** CEL over `event`, from -600 to 600: seconds that the run is put before others, or behind them. */
  readonly run: string;
}

export const priority: FlowOption<string> = {
  written: "priority",
  byOneEvent: true,
  read: (value) => readExpression(fieldsOf(value, "priority", ["run"]).run, "priority.run"),
  refuseUnknown: (where, value) => refuseUnknown<PriorityOptions>(where, value, { run: true }),
  fromWire: (value) => (isJsonObject(value) && (value.run ?? "") === "" ? undefined : value),
  toWire: (config): PriorityOptions => ({ run: config }),
};
