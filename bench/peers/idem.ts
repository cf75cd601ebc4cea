// Idem as it is used: in the application's process, on a SQLite file of its own. The function is the one of Idem's own figures.
import { join } from "node:path";
import { packageVersion } from "../machine.ts";
import { withEngine } from "../world.ts";
import type { WithPeer } from "./peer.ts";

export const withPeer: WithPeer = (folder, body) =>
  withEngine(join(folder, "bench.db"), { key: true, runsInFlight: 2_000 }, (_, oneRun) =>
    body({
      oneRun,
      name: `Idem ${packageVersion("packages/idem")} + SQLite`,
      versions: `Idem ${packageVersion("packages/idem")}, better-sqlite3 ${packageVersion("node_modules/better-sqlite3")}, Node ${process.version}`,
      durability: "SQLite in WAL mode, synchronous=FULL",
    }),
  );
