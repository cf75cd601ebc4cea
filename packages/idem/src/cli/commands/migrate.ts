// idem migrate: makes or updates the tables of a PostgreSQL store, for roles that may, so that nodes need not.
import { processName } from "../../platform/node-platform.ts";
import { loadDriver } from "../../sdk/open-store.ts";
import { withoutPassword } from "../../store/postgres/address.ts";
import { type Command, storeOptions } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "make or update the tables of a PostgreSQL store",
  whyNoServer:
    "a server brings its tables up to date when it starts; to do it beforehand, run this where the database is reached, with --store.",
  usage: "",
  words: { min: 0, max: 0 },
  options: { store: storeOptions.store!, json: storeOptions.json! },
  details: [
    "A node does the same when it starts, if its role may. Where it may not, this is run once for each version, as the role that",
    "owns the schema. Asked again it changes nothing; nodes of the version before keep running meanwhile.",
  ],
  examples: ["idem migrate --store postgres://idem_owner@db.internal/shop"],
  async run(context) {
    const address = context.storeAddress();
    if (address.kind === "file") {
      throw usage("A SQLite file is brought up to date by the process that opens it; this is for PostgreSQL.");
    }
    const { openPostgresStore } = await import("../../store/postgres/postgres-store.ts");
    const { loadMigrations } = await import("../../store/postgres/migrations.ts");
    const { platform } = context.io;
    const pg = await loadDriver(address.url);
    const store = await openPostgresStore({ url: address.url, pg, platform, owner: processName() });
    await store.close();
    const { version } = loadMigrations().at(-1)!;
    const where = withoutPassword(address.url);
    if (context.isJson) context.json({ store: where, schemaVersion: version });
    else context.say(`${where} has schema version ${version}`);
    return exitCodes.ok;
  },
};
