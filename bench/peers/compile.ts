// The programs that need the peers' types are compiled when they are wanted, not by `npm run build`, which must do without the peers.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "../machine.ts";

export const peerModules = join(root, "bench", "node_modules");

export const arePeersInstalled = (): boolean => existsSync(join(peerModules, ".package-lock.json"));

export const howToInstall =
  "The peers are not installed. First, once:\n\n  npm ci --prefix bench\n\n" +
  "(Restate, DBOS, PostgreSQL and a Node to run them, 0.5 GB, for this benchmark only)";

export function compilePeers(): void {
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  try {
    execFileSync(process.execPath, [join(typescript, "bin", "tsc"), "-p", join(root, "bench", "peers")], {
      encoding: "utf8",
    });
  } catch (error) {
    throw new Error(`bench/peers does not compile:\n${(error as { stdout?: string }).stdout ?? error}`);
  }
}
