// The socket on which workers connect. What the browser guard and the table of routes cannot know is checked in the handshake:
// the first message carries the token that /v0/connect/start gave out.
import { errors } from "../../model/errors.ts";
import { connectProtocol } from "../../protocol/connect-messages.ts";
import { serverLimits } from "../limits.ts";
import type { SocketRoute } from "../route.ts";
import { acceptWorkerSocket } from "./worker-socket.ts";

export const connectPath = "/connect";

export const connectWorkers: SocketRoute = {
  path: connectPath,
  access: "open",
  upgrade(request, socket, head, _env, world) {
    const offered = request.headers["sec-websocket-protocol"] ?? "";
    if (!offered.split(",").some((protocol) => protocol.trim() === connectProtocol)) {
      throw errors.REQUEST_INVALID({ why: `it does not offer the subprotocol ${connectProtocol}` });
    }
    world.connect.checkRoom();
    acceptWorkerSocket(request, socket, head, (worker) => world.connect.accept(worker, world));
  },
  // The listener has its own grace and cuts the sockets when it is over, which ends the calls as well.
  close: (world) => world.connect.stop(serverLimits.stopGraceMs),
};
