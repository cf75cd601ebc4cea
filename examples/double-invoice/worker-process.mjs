// A worker as its parent holds it: started, watched, killed without warning, and never left behind.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

// Windows has no such signals; there the kill comes a moment later than the look.
const canFreeze = process.platform !== "win32";
const alive = new Map();
let isStopping = false;
process.on("exit", () => {
  for (const child of alive.keys()) child.kill("SIGKILL");
});

/** Resolves once no worker is left. The story does not hear of their end: it would open the store again, in a folder that is being removed. */
export async function killWorkers() {
  isStopping = true;
  for (const child of alive.keys()) child.kill("SIGKILL");
  await Promise.all(alive.values());
}

/** Resolves once it has ended, which it does with the story. */
export function holdChild(child) {
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      alive.delete(child);
      if (!isStopping) resolve({ code, signal });
    });
  });
  alive.set(child, once(child, "exit"));
  return ended;
}

/** `onPort` is told where its pages are. */
export function startWorker(task, onPort) {
  const file = fileURLToPath(new URL("./worker.mjs", import.meta.url));
  const child = fork(file, [JSON.stringify(task)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = holdChild(child);
  child.on("message", ({ port }) => onPort(port));
  return {
    pid: child.pid,
    ended,
    isAlive: () => alive.has(child),
    kill: () => child.kill("SIGKILL"),
    freeze: () => canFreeze && child.kill("SIGSTOP"),
    thaw: () => canFreeze && child.kill("SIGCONT"),
  };
}
