// The socket on which workers connect. The handshake checks what the browser guard and the table of routes cannot know:
// the first message carries the token that /v0/connect/start gave out.
import { errors } from "../../model/errors.ts";
import { connectProtocol } from "../../protocol/connect-messages.ts";
import { splitTarget } from "../answer-request.ts";
import { serverLimits } from "../limits.ts";
import { groupOf } from "../people/try-limit.ts";
import type { SocketRoute } from "../route.ts";
import type { ServerSettings } from "../world.ts";
import { acceptWorkerSocket } from "./worker-socket.ts";

export const connectPath = "/connect";

/** Stands in the address a worker is sent to, which marks it off from strangers before its first word. It admits nobody. */
export const ticketParameter = "ticket";

/** Calls go out over the socket from where runs are executed, so workers connect there. */
export function checkExecutes({ role }: Pick<ServerSettings, "role">): void {
  if (role === "api") throw errors.WRONG_ROLE({ role, why: "workers connect to those that execute" });
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
    const address = groupOf(request.socket.remoteAddress ?? "");
    const ticket = new URLSearchParams(splitTarget(request.url!).search).get(ticketParameter);
    const expectedAs = world.connect.expects(ticket, world);
    acceptWorkerSocket(request, socket, head, (worker) => world.connect.accept(worker, world, { address, expectedAs }));
  },
  // The listener has its own grace and cuts the sockets when it is over, which ends the calls as well.
  close: (world) => world.connect.stop(serverLimits.stopGraceMs),
};

/** The same gateway by the address that workers are given elsewhere: people have it in their proxies. */
export const connectWorkersV0: SocketRoute = {
  path: "/v0/connect",
  access: connectWorkers.access,
  upgrade: connectWorkers.upgrade,
};
