// An app on a port of its own, for as long as a test lasts.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { serve } from "../node.ts";
import type { Idem } from "../sdk/client.ts";
import { inside } from "../sdk/inside.ts";
import type { ServeOptions } from "./app-handler.ts";

/** The address of the server's root, without a slash. */
export async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** In dev unless its client has a key. */
export async function served(idem: Idem, options: ServeOptions = {}): Promise<string> {
  const dev = idem[inside].serving().server.options.signingKeys.length === 0;
  return `${await listening(createServer(serve(idem, { dev, ...options })))}/api/idem`;
}
