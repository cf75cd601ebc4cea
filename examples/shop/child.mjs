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

export async function startChild(file, task) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, [JSON.stringify(task)], { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] });
  const ended = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      alive.delete(child);
      resolve({ code, signal });
    });
  });
  alive.set(child, ended);
  const port = await new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message.port));
    child.once("error", reject);
    ended.then(({ code, signal }) => reject(new Error(`${file} ended before it listened (${signal ?? `code ${code}`})`)));
  });
  return {
    pid: child.pid,
    port,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
