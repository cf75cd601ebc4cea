// A proxy in front of PostgreSQL that loses a session while it commits: before the server heard of it, or after it committed.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  /** The server's address, through the proxy. */
  readonly url: string;
  /** For the next commit. */
  cut(when: "before" | "after"): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  const port = Number(target.port);
  let planned: "before" | "after" | null = null;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(port, target.hostname);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (chunk) => {
      // The first of a session: after that a driver may name it by a prepared statement.
      if (planned === "before" && /\bcommit\b/i.test(chunk.toString("latin1"))) {
        planned = null;
        return end();
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      // The server's name for it, once it is done.
      if (planned === "after" && chunk.includes("COMMIT\0")) {
        planned = null;
        return end();
      }
      client.write(chunk);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  target.port = String((proxy.address() as AddressInfo).port);
  return {
    url: target.href,
    cut: (when) => {
      planned = when;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
