// A small project of fixtures/loading, loaded in a thread, as the verifier's does.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const idem = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const projects = join(idem, "fixtures", "loading");

interface Said {
  readonly answers?: readonly { readonly told: unknown; readonly named: unknown; readonly tries: number }[];
  readonly message?: string;
  readonly stack?: string;
}

/** With what the program said of itself in each life, and how often it was loaded for it. */
export async function loadProject(entry: string, lives = 1, execArgv = ["--experimental-vm-modules"]): Promise<Said> {
  const built = `${pathToFileURL(join(idem, "modules")).href}/`;
  const workerData = { built, entry: join(projects, entry), lives };
  const worker = new Worker(join(projects, "load-project.mjs"), { workerData, execArgv });
  try {
    return await new Promise<Said>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  } finally {
    await worker.terminate();
  }
}
