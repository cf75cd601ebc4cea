// PostgreSQL, whichever driver asks it: a database of the world's own, rows as things.
import { watchPackages } from "../watch-packages.ts";
import type { Watcher } from "../watcher.ts";
import { beginPostgres, noteSockets } from "./postgres-world.ts";
import { pgClientPackage, pgPoolPackage } from "./watch-pg.ts";
import { postgresJsPackage } from "./watch-postgres-js.ts";

export const watchPostgres: Watcher = {
  name: "postgres",
  open(outside) {
    watchPackages([pgClientPackage(outside), pgPoolPackage, postgresJsPackage(outside)]);
    noteSockets();
  },
  begin: (of) => beginPostgres(of),
};
