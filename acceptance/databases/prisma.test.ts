// The toolkit through the real Prisma, over its adapters for `better-sqlite3` and `pg`: every promise of an adapter.

import { prismaAdapter } from "../../packages/idem/src/sql.ts";
import { postgresDriverTests, sqliteDriverTests } from "../../packages/idem/src/toolkit/sql/driver-tests.suite.ts";
import { prismaOnPostgres, prismaOnSqlite } from "./prisma-client.suite.ts";

sqliteDriverTests({
  "Prisma over better-sqlite3": (path, closing) => {
    const client = prismaOnSqlite(path);
    closing(() => client.$disconnect());
    return {
      adapter: prismaAdapter(client, { dialect: "sqlite" }),
      native: (tx, text) => (/^select/i.test(text) ? tx.$queryRawUnsafe(text) : tx.$executeRawUnsafe(text)),
    };
  },
});

postgresDriverTests({
  "Prisma over pg": (url, closing) => {
    const client = prismaOnPostgres(url);
    // Not awaited: a session that was lost while it committed is never given back to its pool.
    closing(() => void client.$disconnect());
    return {
      adapter: prismaAdapter(client, { dialect: "postgres" }),
      native: (tx, text) => tx.$executeRawUnsafe(text),
    };
  },
});
