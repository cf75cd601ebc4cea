// The lines callers hold open, and which of them no request is on: those go first when there are too many. A stranger's hoard of silent lines
// (nothing sent, a header that never ends, kept alive after a request) costs nobody else theirs: lines are counted by the most that was
// shown on them, as bodies are, and the lines of one kind push out each other.
import type { Duplex } from "node:stream";
import { type Trust, trusts } from "./awaited-bodies.ts";
import type { ServerLimits } from "./limits.ts";
import { groupOf } from "./people/try-limit.ts";
import { SilentPeers } from "./silent-peers.ts";

interface Line {
  readonly address: string;
  /** More than one where a caller does not wait for its answers. */
  requests: number;
  /** The most that was shown on it. */
  trust: Trust;
}

export class Lines {
  readonly #lines = new Map<Duplex, Line>();
  readonly #silent: Readonly<Record<Trust, SilentPeers<Duplex>>>;
  readonly #max: number;

  constructor({ connections, connectionsPerAddress }: Pick<ServerLimits, "connections" | "connectionsPerAddress">) {
    this.#max = connections;
    const kind = () =>
      new SilentPeers<Duplex>({
        max: connections,
        perAddressMax: connectionsPerAddress,
        cut: (socket) => {
          this.#lines.delete(socket);
          socket.destroy();
        },
      });
    this.#silent = { stranger: kind(), sender: kind(), known: kind() };
  }

  get size(): number {
    return this.#lines.size;
  }

  get cutCount(): number {
    return trusts.reduce((sum, trust) => sum + this.#silent[trust].cutCount, 0);
  }

  open(socket: Duplex & { readonly remoteAddress?: string | undefined }): void {
    if (this.#lines.size >= this.#max && !this.#cutLongest()) {
      socket.destroy();
      return;
    }
    const address = groupOf(socket.remoteAddress ?? "");
    const line: Line = { address, requests: 0, trust: "stranger" };
    this.#lines.set(socket, line);
    this.#silent.stranger.add(socket, address);
    socket.once("close", () => {
      this.#lines.delete(socket);
      this.#silent[line.trust].delete(socket);
    });
  }

  /** Of the kind that has most of them: nobody's few go for somebody else's many. */
  #cutLongest(): boolean {
    const [most] = trusts.map((trust) => this.#silent[trust]).sort((a, b) => b.size - a.size);
    return most!.cutLongest();
  }

  /** A request, or what will be more than a request, has arrived on it. */
  begin(socket: Duplex): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    line.requests++;
    this.#silent[line.trust].delete(socket);
  }

  /** The request is answered. The rest of its body is waited for like the next one. */
  end(socket: Duplex): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    line.requests--;
    if (line.requests === 0) this.#silent[line.trust].add(socket, line.address);
  }

  /** Its caller was admitted. To be called while a request is under way. */
  show(socket: Duplex, trust: Trust): void {
    const line = this.#lines.get(socket);
    if (line !== undefined && trusts.indexOf(trust) > trusts.indexOf(line.trust)) line.trust = trust;
  }

  hasShown(socket: Duplex): boolean {
    return (this.#lines.get(socket)?.trust ?? "stranger") !== "stranger";
  }

  addressOf(socket: Duplex): string {
    return this.#lines.get(socket)?.address ?? "";
  }
}
