// The socket on which workers connect. What the browser guard and the table of routes cannot know is checked in the handshake:
// the first message carries the token that /v0/connect/start gave out.
import { errors } from "../../model/errors.ts";
import { connectProtocol } from "../../protocol/connect-messages.ts";
import { serverLimits } from "../limits.ts";
import type { SocketRoute } from "../route.ts";
import type { ServerSettings } from "../world.ts";
import { acceptWorkerSocket } from "./worker-socket.ts";

export const connectPath = "/connect";

/** Calls go out over the socket from where runs are executed, so workers connect there. */
export function checkExecutes({ role }: Pick<ServerSettings, "role">): void {
  if (role === "api")
    throw errors.OTHER_NODE({ why: "this node has the role api; workers connect to those that execute" });
}

export const connectWorkers: SocketRoute = {
  path: connectPath,
  access: "open",
  upgrade(request, socket, head, _env, world) {
    const offered = request.headers["sec-websocket-protocol"] ?? "";
    if (!offered.split(",").some((protocol) => protocol.trim() === connectProtocol)) {
      throw errors.REQUEST_INVALID({ why: `it does not offer the subprotocol ${connectProtocol}` });
    }
    checkExecutes(world.settings);
    world.connect.checkRoom();
    acceptWorkerSocket(request, socket, head, (worker) => world.connect.accept(worker, world));
  },
  // The listener has its own grace and cuts the sockets when it is over, which ends the calls as well.
  close: (world) => world.connect.stop(serverLimits.stopGraceMs),
};
