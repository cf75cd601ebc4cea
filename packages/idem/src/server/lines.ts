// The lines callers hold open, and which of them no request is on: those go first when there are too many. A stranger's hoard of silent lines
// (nothing sent, a header that never ends, kept alive after a request) costs nobody else theirs.
import type { Duplex } from "node:stream";
import type { ServerLimits } from "./limits.ts";
import { groupOf } from "./people/try-limit.ts";
import { SilentPeers } from "./silent-peers.ts";

interface Line {
  readonly address: string;
  /** More than one where a caller does not wait for its answers. */
  requests: number;
}

export class Lines {
  readonly #lines = new Map<Duplex, Line>();
  readonly #silent: SilentPeers<Duplex>;
  readonly #max: number;

  constructor({ connections, connectionsPerAddress }: Pick<ServerLimits, "connections" | "connectionsPerAddress">) {
    this.#max = connections;
    this.#silent = new SilentPeers({
      max: connections,
      perAddressMax: connectionsPerAddress,
      cut: (socket) => {
        this.#lines.delete(socket);
        socket.destroy();
      },
    });
  }

  get size(): number {
    return this.#lines.size;
  }

  get cutCount(): number {
    return this.#silent.cutCount;
  }

  open(socket: Duplex & { readonly remoteAddress?: string | undefined }): void {
    if (this.#lines.size >= this.#max && !this.#silent.cutLongest()) {
      socket.destroy();
      return;
    }
    const address = groupOf(socket.remoteAddress ?? "");
    this.#lines.set(socket, { address, requests: 0 });
    this.#silent.add(socket, address);
    socket.once("close", () => {
      this.#lines.delete(socket);
      this.#silent.delete(socket);
    });
  }

  /** A request, or what will be more than a request, has arrived on it. */
  begin(socket: Duplex): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    line.requests++;
    this.#silent.delete(socket);
  }

  /** The request is answered. What may still come of its body is waited for like the next one. */
  end(socket: Duplex): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    line.requests--;
    if (line.requests === 0) this.#silent.add(socket, line.address);
  }

  addressOf(socket: Duplex): string {
    return this.#lines.get(socket)?.address ?? "";
  }
}
