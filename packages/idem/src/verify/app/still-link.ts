// The line to the command for code that cannot wait (`writeFileSync`, a statement of SQLite): its process stands still until it is answered, and for ever where
// it is killed there. A thread has the socket, because the one that stands still receives nothing.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { environment } from "../../platform/node-thread.ts";
import { builtFile } from "../../platform/package-files.ts";
import { asMachine } from "../worker/caller.ts";
import type { AppSettings, FromApp, ToApp } from "./control-messages.ts";

export interface StillThread {
  readonly port: MessagePort;
  /** One once the answer is there. */
  readonly answered: Int32Array;
  readonly settings: Pick<AppSettings, "controlPort" | "token">;
  readonly pid: number;
}

// Before anybody replaces it.
const receive = receiveMessageOnPort;

export class StillLink {
  private readonly answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  private readonly port: MessagePort;

  constructor({ controlPort, token }: StillThread["settings"]) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const { answered } = this;
    const thread: StillThread = { port: port2, answered, settings: { controlPort, token }, pid: process.pid };
    asMachine(() => {
      // Loaders of the app's code (NODE_OPTIONS) have no business there.
      const env = { ...environment(), NODE_OPTIONS: "" };
      const options = { workerData: thread, transferList: [port2], execArgv: [], env };
      new Worker(builtFile("verify/app/still-link-thread"), options).unref();
    });
    port1.unref();
  }

  ask(message: FromApp): ToApp {
    Atomics.store(this.answered, 0, 0);
    this.port.postMessage(message);
    Atomics.wait(this.answered, 0, 0);
    return receive(this.port)!.message as ToApp;
  }
}
