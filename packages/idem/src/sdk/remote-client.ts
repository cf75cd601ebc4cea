// What a client is made of once its store is at a server.
import type { CheckEvents } from "../engine/outgoing-events.ts";
import type { FunctionCode, Logger } from "../execute/function-code.ts";
import type { Platform } from "../platform/platform.ts";
import type { RemoteServer } from "./remote-server.ts";

/** What `serve` needs of a client. */
export interface ServedClient {
  readonly id: string;
  readonly server: RemoteServer;
  readonly codes: () => readonly FunctionCode[];
  readonly checkEvents: CheckEvents;
  readonly platform: Platform;
  readonly logger: Logger;
}
