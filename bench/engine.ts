// The built package, with the parts of it that users do not see: the bench measures those too.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Pg from "pg";
import type * as Index from "../packages/idem/modules/index.js";
import type * as Ulid from "../packages/idem/modules/model/ulid.js";
import type * as NodePlatform from "../packages/idem/modules/platform/node-platform.js";
import type * as OpenStore from "../packages/idem/modules/sdk/open-store.js";
import type * as InlineStore from "../packages/idem/modules/store/sqlite/inline-store.js";
import type * as Migrations from "../packages/idem/modules/store/sqlite/migrations.js";
import type * as ThreadStore from "../packages/idem/modules/store/sqlite/thread-store.js";

const here = dirname(fileURLToPath(import.meta.url));
/** Of another build, where two are compared. */
const dist =
  process.env.IDEM_MODULES ?? join(here, here.endsWith("dist") ? "../.." : "..", "packages", "idem", "modules");
const load = (file: string): Promise<any> => import(pathToFileURL(join(dist, file)).href);

/** The driver that this build asks PostgreSQL by: the peers of the bench bring another one. */
export const driverOfPostgres = (): typeof Pg => createRequire(join(dist, "index.js"))("pg");

export const { Idem } = (await load("index.js")) as typeof Index;
export type Idem = InstanceType<typeof Index.Idem>;
export const { UlidSource } = (await load("model/ulid.js")) as typeof Ulid;
export const { nodePlatform } = (await load("platform/node-platform.js")) as typeof NodePlatform;
export const { openThreadStore } = (await load("store/sqlite/thread-store.js")) as typeof ThreadStore;
/** Whatever store the address names, as a client opens it. */
export const { openStore: openStoreAt } = (await load("sdk/open-store.js")) as typeof OpenStore;

const { openInlineStore: openInline } = (await load("store/sqlite/inline-store.js")) as typeof InlineStore;
const { loadMigrations } = (await load("store/sqlite/migrations.js")) as typeof Migrations;
/** A file in this thread, by any clock. */
export const openInlineStore = (options: Omit<Parameters<typeof openInline>[0], "migrations">) =>
  openInline({ ...options, migrations: loadMigrations() });
