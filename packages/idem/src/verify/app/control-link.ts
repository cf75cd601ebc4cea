// The app's end of the control channel. When the command is gone, so is the app: nothing else would look after it.
import { connect, type Socket } from "node:net";
import { byLine, type FromApp, type ToApp } from "./control-messages.ts";

export class ControlLink {
  private constructor(private readonly socket: Socket) {}

  static async open(port: number, take: (message: ToApp) => void): Promise<ControlLink> {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    socket.on(
      "data",
      byLine((message) => take(message as ToApp)),
    );
    socket.on("error", () => {});
    const { kill, pid } = process;
    socket.on("close", () => kill.call(process, pid, "SIGKILL"));
    // It keeps no process alive that has nothing else to do.
    socket.unref();
    return new ControlLink(socket);
  }

  post(message: FromApp): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }
}
