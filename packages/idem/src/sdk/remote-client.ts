// The parts of a client whose store is at a server.
import type { CheckEvents } from "../engine/outgoing-events.ts";
import type { Logs } from "../execute/execution.ts";
import type { FunctionCode } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import type { FormerIds } from "../model/former-ids.ts";
import { environmentVariable } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import type { RemoteServer, ServerOptions } from "./remote-server.ts";

export interface ServerKeys {
  /** The key that `send` shows to the server. IDEM_EVENT_KEY by default; a server in dev asks for none. */
  readonly eventKey?: string;
  /** The key that signs the server's calls. IDEM_SIGNING_KEY by default. */
  readonly signingKey?: string;
  /** Accepted as well while keys are changed. IDEM_SIGNING_KEY_FALLBACK by default. */
  readonly signingKeyFallback?: string;
}

/** The part of a client that `serve` needs. */
export interface ServedClient {
  readonly id: string;
  readonly was: FormerIds | null;
  readonly server: RemoteServer;
  readonly codes: () => readonly FunctionCode[];
  readonly checkEvents: CheckEvents;
  readonly platform: Platform;
  readonly logs: Logs;
}

/** Null for a client with a store of its own. */
export function serverOf({ server, store }: { readonly server?: string; readonly store?: unknown }): string | null {
  if (server !== undefined && store !== undefined) {
    throw errors.OPTION_INVALID({
      option: "store",
      why: "a client with a server keeps nothing itself; give one of the two",
    });
  }
  if (store !== undefined) return null;
  return server ?? (environmentVariable("IDEM_SERVER") || null);
}

export function keysOf(keys: ServerKeys): Pick<ServerOptions, "eventKey" | "signingKeys"> {
  const told = (key: string | undefined, variable: string) => key || environmentVariable(variable) || null;
  const signingKeys = [
    told(keys.signingKey, "IDEM_SIGNING_KEY"),
    told(keys.signingKeyFallback, "IDEM_SIGNING_KEY_FALLBACK"),
  ];
  return { eventKey: told(keys.eventKey, "IDEM_EVENT_KEY"), signingKeys: signingKeys.filter((key) => key !== null) };
}
