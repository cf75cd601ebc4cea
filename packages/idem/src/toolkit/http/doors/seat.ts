// A response under a key is cut off from its connection while its handler runs: a client that leaves must not be noticed by a pipe, a file
// being sent or a `close` listener, for the work goes on and its outcome is stored. The seat keeps the response's place in the line
// of the connection, so that the answer to a request behind it is not sent first.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Seat {
  readonly isGone: boolean;
  /** Gives the connection back; false when there is none any more. */
  giveBack(): boolean;
  /** Calls back when the client has left; at once when it has already. The answer ends the listening: a connection serves many responses. */
  onGone(hear: () => void): () => void;
  cut(): void;
}

export function takeSeat(response: ServerResponse): Seat {
  const { socket } = response;
  // A response in line behind another one has no connection yet, and buffers by itself.
  if (socket === null) return waiting(response);
  response.detachSocket(socket);
  // Node asks the message at the head of a connection whether it has ended, and whether somebody hears of a timeout.
  const inLine = { finished: false, _headerSent: false, emit: () => false };
  const line = socket as Socket & { _httpMessage: object | null };
  line._httpMessage = inLine;
  return {
    get isGone() {
      return socket.destroyed;
    },
    giveBack() {
      if (line._httpMessage !== inLine) return !socket.destroyed;
      line._httpMessage = null;
      if (socket.destroyed) return false;
      response.assignSocket(socket);
      return true;
    },
    onGone(hear) {
      if (socket.destroyed) hear();
      else socket.once("close", hear);
      return () => void socket.off("close", hear);
    },
    cut: () => void socket.destroy(),
  };
}

const waiting = (response: ServerResponse): Seat => ({
  get isGone() {
    return response.destroyed;
  },
  giveBack: () => !response.destroyed,
  onGone(hear) {
    response.once("close", hear);
    return () => void response.off("close", hear);
  },
  cut: () => void response.destroy(),
});
