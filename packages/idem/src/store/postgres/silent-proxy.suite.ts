// A way to a server that can fall silent: what is open stays open and nothing goes through it any more, as behind a router that forgot
// its connections, or before a server that was frozen. New ones go through, unless all are to be silent. It can also reply for a server
// that is not ready, as one that starts up or a proxy that has no server to lead to.
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
  /** Ends what is open; what comes gets this reply, or goes through again. */
  reply(how: NotReadyReply | "forward"): void;
}

/** 57P03 of a server that starts up, or an end without a word, as of a proxy without a backend. */
export type NotReadyReply = "starting-up" | "no-backend";

const startingUp = (() => {
  const fields = ["SFATAL", "C57P03", "Mthe database system is starting up"].map((field) => `${field}\0`).join("");
  const message = Buffer.from(`E\0\0\0\0${fields}\0`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
})();

export async function silentProxy(serverUrl: string): Promise<SilentProxy> {
  const target = new URL(serverUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const silent = new WeakSet<readonly [Socket, Socket]>();
  let isAllSilent = false;
  let reply: NotReadyReply | "forward" = "forward";
  const proxy = createServer((from) => {
    if (reply !== "forward") {
      from.on("error", () => {});
      if (reply === "no-backend") from.end();
      else from.once("data", () => from.end(startingUp));
      return;
    }
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
    reply: (how) => {
      reply = how;
      for (const [from] of pairs) from.destroy();
    },
    die: () => {
      proxy.close();
      for (const [from] of pairs) from.destroy();
    },
  };
}
