// The inside of one of Idem's threads: messages in and out, and the real clock.
import { parentPort, workerData } from "node:worker_threads";
import { steadyMs } from "./steady-ms.ts";

export function nodeThread<Input, In, Out>() {
  const port = parentPort!;
  return {
    input: workerData as Input,
    clock: { wallMs: () => Date.now(), monoMs: steadyMs },
    timer: (ms: number, run: () => void) => {
      const handle = setTimeout(run, ms);
      return { cancel: () => clearTimeout(handle) };
    },
    post: (message: Out) => port.postMessage(message),
    onMessage: (take: (message: In) => void) => port.on("message", take),
    end: () => port.close(),
  };
}

/** Of this thread: others keep their own. */
export const setEnvironment = (values: Readonly<Record<string, string>>): void => {
  Object.assign(process.env, values);
};

export const environment = (): Readonly<Record<string, string | undefined>> => process.env;
