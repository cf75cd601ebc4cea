// The thread that speaks to the command for a process that stands still.
import { nodeThread } from "../../platform/node-thread.ts";
import { ControlLink } from "./control-link.ts";
import type { FromApp } from "./control-messages.ts";
import type { StillThread } from "./still-link.ts";

const { port, answered, settings, pid } = nodeThread<StillThread, never, never>().input;
const link = await ControlLink.open(settings.controlPort, (message) => {
  port.postMessage(message);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
});
link.post({ kind: "hello", token: settings.token, pid });
port.on("message", (message: FromApp) => link.post(message));
