// A subscriber behind a WebSocket: text frames out, nothing but pongs in.
import type { WebSocket } from "ws";
import type { Platform } from "../../platform/platform.ts";
import { closingFrame, subscribedFrame } from "../../protocol/realtime-frames.ts";
import type { Line } from "./channels.ts";
import { realtimeLimits } from "./limits.ts";

// RFC 6455 §7.4.1: the endpoint ends the connection because a rule of its own was broken.
const policyViolation = 1008;
// A close frame carries at most 123 bytes of reason.
const reasonCharsMax = 120;

export function socketLine(socket: WebSocket, platform: Pick<Platform, "timer">): Line {
  let answered = true;
  socket.on("pong", () => {
    answered = true;
  });
  return {
    began: (place) => socket.send(subscribedFrame(place), () => {}),
    // The same buffer for all subscribers: an unmasked frame is written without being copied.
    frame: (bytes, _place, sent) => socket.send(bytes, { binary: false }, () => sent()),
    ping() {
      if (!answered) return false;
      answered = false;
      socket.ping();
      return true;
    },
    close(reason) {
      socket.send(closingFrame(reason), () => {});
      socket.close(policyViolation, reason.slice(0, reasonCharsMax));
      const cut = platform.timer(realtimeLimits.closeGraceMs, () => socket.terminate(), { background: true });
      return new Promise((resolve) => {
        socket.once("close", () => {
          cut.cancel();
          resolve();
        });
      });
    },
  };
}
