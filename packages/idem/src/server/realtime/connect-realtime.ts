// GET /v1/realtime/connect as a WebSocket: who shows a token hears its topics until either side closes.
import { WebSocketServer } from "ws";
import { splitTarget } from "../answer-request.ts";
import type { SocketRoute } from "../route.ts";
import { readRealtimeToken } from "./realtime-token.ts";
import { socketLine } from "./socket-line.ts";

// Subscribers have nothing to say; a few bytes are room for a ping of their own.
const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 4 * 1024,
});

export const connectRealtime: SocketRoute = {
  path: "/v1/realtime/connect",
  // The token in the query is the credential.
  access: "open",
  async upgrade(request, socket, head, _env, world) {
    const query = new URLSearchParams(splitTarget(request.url!).search);
    const token = query.get("token");
    const { env, topics } = readRealtimeToken(world.tokens, token);
    // Before it is connected: it hears everything that is published from then on.
    const subscribe = await world.channels.prepare(env, topics, query.get("from"), token!);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      // A frame that is too large or malformed: the connection is closed by ws, and "close" follows.
      webSocket.on("error", () => {});
      const { stop } = subscribe(socketLine(webSocket, world.platform));
      webSocket.once("close", stop);
    });
  },
  // Readers of server-sent events hear of it as well.
  close: ({ channels }) => channels.close(),
};
