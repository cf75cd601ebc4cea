// A worker's WebSocket as the gateway sees it: whole binary messages in and out, bounded on both sides.
import { type WebSocket, WebSocketServer } from "ws";
import { connectProtocol } from "../../protocol/connect-messages.ts";
import type { SocketRoute } from "../route.ts";
import { connectLimits } from "./connect-limits.ts";

export interface WorkerSocket {
  send(bytes: Uint8Array): void;
  /** At most 123 bytes of reason, as RFC 6455 has it; what is longer is cut. */
  close(code: number, reason: string): void;
  /** Without a farewell. */
  terminate(): void;
  readonly unsentBytes: number;
  onMessage(take: (bytes: Uint8Array) => void): void;
  /** Once. */
  onClose(take: (code: number, reason: string) => void): void;
  /** The peer has shown who it is: it may send more than a greeting. */
  trust(): void;
  /** Called with every few bytes of it, until it is trusted. */
  onGreetingBytes(take: (count: number) => void): void;
}

// Compression stays off: a few bytes could otherwise unfold to any size, and calls are loopback or data centre traffic.
const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: connectLimits.messageBytesMax,
  closeTimeout: connectLimits.closeMs,
  handleProtocols: (offered) => (offered.has(connectProtocol) ? connectProtocol : false),
  // The types of ws 8.18 do not know closeTimeout yet.
} as ConstructorParameters<typeof WebSocketServer>[0]);

type Upgrade = Parameters<SocketRoute["upgrade"]>;

export function acceptWorkerSocket(
  request: Upgrade[0],
  raw: Upgrade[1],
  head: Upgrade[2],
  onOpen: (socket: WorkerSocket) => void,
): void {
  server.handleUpgrade(request, raw, head, (socket) => onOpen(wrap(socket, raw)));
}

function wrap(socket: WebSocket, raw: Upgrade[1]): WorkerSocket {
  let greetingBytes = 0;
  let counted: (count: number) => void = () => {};
  const countGreeting = (chunk: Uint8Array) => {
    greetingBytes += chunk.length;
    if (greetingBytes > connectLimits.greetingBytesMax) socket.terminate();
    else counted(chunk.length);
  };
  raw.on("data", countGreeting);
  // Errors of a socket end in its close event; without a listener Node would end the process.
  socket.on("error", () => {});
  return {
    send(bytes) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(bytes);
      if (socket.bufferedAmount > connectLimits.unsentBytesMax) socket.terminate();
    },
    close: (code, reason) => socket.close(code, cut(reason)),
    terminate: () => socket.terminate(),
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    onMessage(take) {
      socket.on("message", (data, isBinary) => {
        if (!isBinary) socket.close(1003, "binary frames only");
        else take(data as Buffer);
      });
    },
    onClose(take) {
      socket.once("close", (code, reason) => take(code, reason.toString("utf8")));
    },
    trust: () => raw.off("data", countGreeting),
    onGreetingBytes(take) {
      counted = take;
    },
  };
}

const reasonBytesMax = 123;

function cut(reason: string): string {
  const bytes = Buffer.from(reason, "utf8");
  if (bytes.length <= reasonBytesMax) return reason;
  // A character cut in half becomes one replacement character, which is three bytes again.
  return bytes
    .subarray(0, reasonBytesMax - 3)
    .toString("utf8")
    .replace(/\uFFFD$/, "");
}
