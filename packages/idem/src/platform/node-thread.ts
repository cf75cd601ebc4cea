// The inside of one of Idem's threads: messages in and out, and the real clock.
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

/** A steady clock that all threads of a process read alike; `performance.now()` begins anew in each of them. */
export const steadyMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

export function nodeThread<Input, In, Out>() {
  const port = parentPort!;
  return {
    input: workerData as Input,
    clock: { wallMs: () => Date.now(), monoMs: steadyMs },
    timer: (ms: number, run: () => void) => {
      const handle = setTimeout(run, ms);
      return { cancel: () => clearTimeout(handle) };
    },
    /** Once every message that has arrived was taken. */
    soon: (run: () => void) => void setImmediate(run),
    post: (message: Out) => port.postMessage(message),
    onMessage: (take: (message: In) => void) => port.on("message", take),
    end: () => endThread(port),
  };
}

/** Deno's port of a thread has no `close`; the thread itself has. */
function endThread(port: { close?(): void }): void {
  const thread = globalThis as { close?(): void };
  if (port.close === undefined) thread.close?.();
  else port.close();
}

/** Of this thread: others keep their own. */
export const setEnvironment = (values: Readonly<Record<string, string>>): void => {
  Object.assign(process.env, values);
};

export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

// Before anybody replaces it.
const receive = receiveMessageOnPort;

/** Messages from another thread: kept until they are asked for. */
export function openMailbox<T>(): { readonly port: MessagePort; readonly drain: () => T[] } {
  const { port1, port2 } = new MessageChannel();
  const drain = (): T[] => {
    const all: T[] = [];
    for (let next = receive(port1); next !== undefined; next = receive(port1)) all.push(next.message as T);
    return all;
  };
  return { port: port2, drain };
}

/** Node, the file it was given, and what follows it. */
export const commandLine = (): readonly string[] => process.argv;
