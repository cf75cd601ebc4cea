// Clients of the real `@prisma/client`. What `prisma generate` wrote for a schema of one model lies beside this, without its types: the query compiler is WebAssembly, so nothing is
// fetched. To write it anew: `npx prisma generate` with such a schema, and `internal/class.ts` of what it makes.
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { PrismaDatabase, PrismaQueries } from "../../packages/idem/src/sql.ts";
import * as postgresql from "./prisma/postgresql.ts";
import * as sqlite from "./prisma/sqlite.ts";

type Client = PrismaDatabase<PrismaQueries> & { $disconnect(): Promise<void> };
type ClientClass = new (options: { adapter: unknown }) => Client;

const OnSqlite = sqlite.getPrismaClientClass() as unknown as ClientClass;
const OnPostgres = postgresql.getPrismaClientClass() as unknown as ClientClass;

export const prismaOnSqlite = (path: string): Client =>
  new OnSqlite({ adapter: new PrismaBetterSqlite3({ url: `file:${path}` }) });

export function prismaOnPostgres(url: string): Client {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  // Prisma does not listen to a session once its transaction is over; one that is lost would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new OnPostgres({ adapter: new PrismaPg(pool) });
}
