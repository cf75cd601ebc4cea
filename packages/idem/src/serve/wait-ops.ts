// Waits on their way to the server. A length of time is passed on as one, so that the server's clock alone measures it.
import type { PlannedWait } from "../execute/ports.ts";
import { fromJson } from "../model/json.ts";
import {
  type Beside,
  invokeOp,
  type OpText,
  sleepOp,
  waitForEventOp,
  waitForSignalOp,
} from "../protocol/app-answer.ts";

/** `slugOf` gives a function of this app its full name. */
export function waitOp(planned: PlannedWait, slugOf: (idOrSlug: string) => string, beside: Beside): OpText {
  const timeout = lengthOf(planned);
  if (planned.kind === "invoke") {
    const { event, function: target } = planned.invoke;
    const extra = event.extra === null ? {} : (fromJson(event.extra) as { v?: unknown });
    const data = fromJson(event.data);
    return invokeOp(planned.wait, { function: slugOf(target), data, v: extra.v, timeout }, beside);
  }
  const { wait } = planned;
  switch (wait.kind) {
    case "time":
      return sleepOp(wait, timeout, beside);
    case "event":
      return waitForEventOp(wait, { event: wait.eventName, timeout, if: conditionOf(wait) }, beside);
    case "signal":
      return waitForSignalOp(wait, { signal: wait.signal, timeout, replaces: wait.onTaken === "replace" }, beside);
    case "run":
      throw new Error(`step "${wait.name}" waits for a run it does not name`);
  }
}

function lengthOf({ lastsMs, wait }: PlannedWait): string {
  return lastsMs === undefined ? new Date(wait.timeoutAt ?? 0).toISOString() : `${lastsMs}ms`;
}

/** `match: "data.orderId"` is on the wire the equality it stands for. */
function conditionOf(wait: { readonly path: string; readonly rest: string | null }): string | null {
  if (wait.path === "") return wait.rest;
  const path = celPath(wait.path);
  const match = `event${path} == async${path}`;
  return wait.rest === null ? match : `${match} && (${wait.rest})`;
}

const celPath = (path: string): string =>
  path
    .split(".")
    .map((part) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`))
    .join("");
