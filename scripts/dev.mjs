// `npm run dev`: the built server on its usual port, and beside it the dashboard from its sources, drawn anew when one is saved.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const pages = await createServer({ configFile: join(root, "packages", "dashboard", "vite.config.ts") });
await pages.listen();
pages.printUrls();

const server = spawn(
  process.execPath,
  [join(root, "packages", "idem", "bin", "idem.mjs"), "dev", ...process.argv.slice(2)],
  {
    stdio: "inherit",
  },
);
server.once("exit", async (code) => {
  await pages.close();
  process.exit(code ?? 0);
});
// The server hears the same signal from the terminal and says goodbye by itself.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal));
