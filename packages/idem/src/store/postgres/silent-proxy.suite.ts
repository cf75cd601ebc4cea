// A way to a server that can fall silent: what is open stays open and nothing goes through it any more, as behind a router that forgot
// its connections, or before a server that was frozen. New ones go through, unless all are to be silent.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface SilentProxy {
  /** The server's address, by this way. */
  readonly url: string;
  /** Connections that are open now. */
  readonly open: number;
  /** From now on nothing goes through connections that are open now; with `all`, nor through those that are opened later. */
  silence(which: "open" | "all"): void;
  /** Ends what is open, and refuses what comes. */
  die(): void;
}

export async function silentProxy(serverUrl: string): Promise<SilentProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const silent = new WeakSet<readonly [Socket, Socket]>();
  let isAllSilent = false;
  const proxy = createServer((from) => {
    if (isAllSilent) {
      held.push(from);
      from.on("error", () => {});
      return;
    }
    const to = connect(Number(target.port), target.hostname);
    const pair = [from, to] as const;
    pairs.add(pair);
    const forward = (source: Socket, sink: Socket) => {
      source.on("data", (chunk) => {
        if (!silent.has(pair)) sink.write(chunk);
      });
      source.on("close", () => {
        pairs.delete(pair);
        sink.destroy();
      });
      source.on("error", () => {});
    };
    forward(from, to);
    forward(to, from);
  });
  const held: Socket[] = [];
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    for (const socket of [...held, ...[...pairs].flat()]) socket.destroy();
  });
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    get open() {
      return pairs.size;
    },
    silence: (which) => {
      for (const pair of pairs) silent.add(pair);
      isAllSilent = which === "all";
    },
    die: () => {
      proxy.close();
      for (const [from] of pairs) from.destroy();
    },
  };
}
