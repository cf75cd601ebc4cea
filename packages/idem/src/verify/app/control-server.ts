// The command's end of the control channel: on loopback, and only for processes that show the token of a start.
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { byLine, type FromApp, type ToApp } from "./control-messages.ts";

/** One process of a start; a start may have several (a tool, its watcher, the app). */
export interface AppConnection {
  post(message: ToApp): void;
  readonly pid: number;
}

export interface StartedApp {
  connected(connection: AppConnection): void;
  take(connection: AppConnection, message: Exclude<FromApp, { kind: "hello" }>): void;
  closed(connection: AppConnection): void;
}

const helloCharsMax = 1_000;

export class ControlServer {
  private readonly starts = new Map<string, StartedApp>();
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<ControlServer> {
    const server = createServer();
    const control = new ControlServer(server);
    server.on("connection", (socket) => control.take(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // Other parts keep the command alive while it has something to do.
    server.unref();
    return control;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  expect(token: string, app: StartedApp): void {
    this.starts.set(token, app);
  }

  forget(token: string): void {
    this.starts.delete(token);
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private take(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    let of: { readonly app: StartedApp; readonly connection: AppConnection } | null = null;
    socket.on("close", () => {
      this.sockets.delete(socket);
      of?.app.closed(of.connection);
    });
    const take = (message: FromApp): void => {
      if (message.kind !== "hello") {
        if (of === null) socket.destroy();
        else of.app.take(of.connection, message);
        return;
      }
      const app = this.starts.get(message.token);
      if (app === undefined) {
        socket.destroy();
        return;
      }
      const post = (said: ToApp): void => void socket.write(`${JSON.stringify(said)}\n`);
      of = { app, connection: { post, pid: message.pid } };
      app.connected(of.connection);
    };
    // No connection is believed before it has shown a token, and nothing of it is kept.
    const lines = byLine(
      (message) => take(message as FromApp),
      () => (of === null ? helloCharsMax : Number.POSITIVE_INFINITY),
    );
    socket.on("data", (text: string) => {
      if (!lines(text)) socket.destroy();
    });
  }
}
