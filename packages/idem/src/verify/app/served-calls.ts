// The calls a server makes to an app, as the app's own process sees them: whatever its code does on the way belongs to one of them, by async context.
import http from "node:http";
import net from "node:net";
import { StepBody } from "../../execute/step-body.ts";
import { asCaller, type Caller, currentCaller } from "../worker/caller.ts";
import type { WatchedProcess } from "../worker/life.ts";
import type { AskedBy } from "./control-messages.ts";

/** One call, while its code goes on. */
interface ServedRun {
  readonly fn: string;
  readonly runId: string;
  /** The server's own name for it. */
  readonly call: string;
  isOver: boolean;
}

type Emit = (this: unknown, event: string, ...args: unknown[]) => boolean;

/** `life` is this process; `onFirst`: before its first call. */
export function watchCalls(life: WatchedProcess, onFirst: () => void): void {
  const emit = http.Server.prototype.emit as Emit;
  let hasServed = false;
  const watched: Emit = function (event, ...args) {
    const run = event === "request" ? runOf(args[0] as http.IncomingMessage) : null;
    if (run === null) return emit.call(this, event, ...args);
    if (!hasServed) onFirst();
    hasServed = true;
    (args[1] as http.ServerResponse).once("close", () => {
      run.isOver = true;
    });
    return asCaller({ life, run }, () => emit.call(this, event, ...args));
  };
  http.Server.prototype.emit = watched as typeof http.Server.prototype.emit;
}

function runOf({ method, url = "", headers }: http.IncomingMessage): ServedRun | null {
  if (method !== "POST" || !URL.canParse(url, "http://app")) return null;
  const { searchParams } = new URL(url, "http://app");
  const fn = searchParams.get("fnId");
  const call = headers["x-request-id"];
  const runId = headers["x-run-id"];
  if (fn === null || typeof call !== "string" || typeof runId !== "string") return null;
  return { fn, runId, call, isOver: false };
}

export const isInCall = (): boolean => currentCaller<WatchedProcess>()?.run != null;

export function askedBy(): AskedBy {
  const caller = currentCaller<WatchedProcess>() as
    | (Caller<WatchedProcess> & { readonly run: ServedRun | null })
    | null;
  const run = caller?.run ?? null;
  return { call: run?.call ?? null, step: stepAtWork(), isLate: run?.isOver === true, place: caller?.place ?? null };
}

/** The official SDK keeps its current work under this name, for tracing. */
const alsOfSdk = Symbol.for("inngest:als");

interface SdkContext {
  readonly execution?: { readonly executingStep?: { readonly id?: string; readonly userlandId?: string } };
}

function stepAtWork(): string | null {
  const own = StepBody.current();
  if (own !== null) return own.step;
  const holder = (globalThis as { [alsOfSdk]?: { resolved?: { getStore?: () => SdkContext | undefined } } })[alsOfSdk];
  const step = holder?.resolved?.getStore?.()?.execution?.executingStep;
  return step?.userlandId ?? step?.id ?? null;
}

/**
 * The app listens on a free port of this machine in place of its own: whatever else listens there goes on, and several starts of the app can be there at once.
 */
export function giveOtherPort(appPort: number, tell: (asked: number, port: number) => void): void {
  const listen = net.Server.prototype.listen as (this: net.Server, ...args: unknown[]) => net.Server;
  net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]) {
    const asked = portOf(args);
    if (asked === null) return listen.apply(this, args);
    this.once("listening", () => {
      const address = this.address();
      if (typeof address === "object" && address !== null) tell(asked, address.port);
    });
    if (asked !== appPort) return listen.apply(this, args);
    const done = args.findLast((each) => typeof each === "function");
    return listen.call(this, { port: 0, host: "127.0.0.1" }, ...(done === undefined ? [] : [done]));
  };
}

/** Null for what listens on no port: a path, a handle. */
function portOf([first]: readonly unknown[]): number | null {
  const port = typeof first === "object" && first !== null ? (first as { port?: unknown }).port : first;
  if (typeof port === "number") return port;
  return typeof port === "string" && /^\d+$/.test(port) ? Number(port) : null;
}
