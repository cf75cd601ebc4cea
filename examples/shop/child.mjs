// A process as its parent holds it: started, asked for its port, killed without warning, and never left behind.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const alive = new Map();
process.on("exit", () => {
  for (const child of alive.keys()) child.kill("SIGKILL");
});

/** Resolves once no child is left. */
export async function killChildren() {
  for (const child of alive.keys()) child.kill("SIGKILL");
  await Promise.all(alive.values());
}

/** `file` is a URL; the process hears its task as JSON, and says that it is ready with its first message. */
export async function startChild(file, task) {
  const child = fork(fileURLToPath(file), [JSON.stringify(task)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      alive.delete(child);
      resolve({ code, signal });
    });
  });
  alive.set(child, ended);
  const ready = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    ended.then(({ code, signal }) =>
      reject(new Error(`${file} ended before it was ready (${signal ?? `code ${code}`})`)),
    );
  });
  const end = (signal) => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid,
    ready,
    /** Its next message answers this one. */
    ask: (message) =>
      new Promise((resolve, reject) => {
        child.once("message", resolve);
        ended.then(() => reject(new Error(`${file} ended without an answer`)));
        child.send(message);
      }),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}
