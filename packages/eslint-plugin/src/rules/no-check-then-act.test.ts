import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await step.run("a", async () => { ${body} }); });`;

tell("no-check-then-act", {
  right: {
    "a look before a write that carries a key": fn(`
      const found = await stripe.customers.list({ email: event.data.email });
      if (found.data.length > 0) return found.data[0].id;
      return stripe.customers.create({ email: event.data.email }, { idempotencyKey: event.id });`),
    "a look before an upsert": fn(
      `const user = await db.users.findOne({ id: 1 }); if (!user) await db.users.upsert({ id: 1 }, {});`,
    ),
    "a look at another collection": fn(
      `const user = await db.users.findOne({ id: 1 }); if (!user) return; await db.orders.insert({ user: user.id });`,
    ),
    "a look that decides nothing": fn(
      `const user = await db.users.findOne({ id: 1 }); await db.users.update({ id: 1 }, { name: user.name });`,
    ),
    "a look that locks the row, in one transaction": fn(`await db.transaction(async (tx) => {
      const found = await tx.query("select 1 from invoices where id = $1 for update", [1]);
      if (found.rows.length === 0) await tx.query("insert into invoices (id) values ($1)", [1]);
    });`),
    "a look and a write in one transaction of SQLite, which has one writer": `
      import Database from "better-sqlite3";
      const sqlite = new Database("shop.db");
      ${fn(`sqlite.transaction(() => {
        if (sqlite.prepare("select 1 from charges where id = ?").get(1) !== undefined) return;
        sqlite.prepare("insert into charges (id) values (?)").run(1);
      })();`)}`,
    "a look in one commit with its step": `idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
      await step.transaction("a", async (tx) => {
        const found = await tx.query("select 1 from invoices");
        if (found.rows.length === 0) await tx.query("insert into invoices (id) values (1)");
      });
    });`,
    "a second one that is caught as such": fn(`
      const found = await prisma.user.findUnique({ where: { id: 1 } });
      if (found) return;
      try { await prisma.user.create({ data: { id: 1 } }); } catch (error) { if (!isUniqueViolation(error)) throw error; }`),
  },
  wrong: {
    "a look before the transaction of SQLite that writes": {
      code: `
        import Database from "better-sqlite3";
        const sqlite = new Database("shop.db");
        ${fn(`if (sqlite.prepare("select 1 from charges where id = ?").get(1) !== undefined) return;
          sqlite.transaction(() => { sqlite.prepare("insert into charges (id) values (?)").run(1); })();`)}`,
      ids: ["race"],
    },
    "a look and a write in one transaction of a server, where two may look at once": {
      code: `
        import pg from "pg";
        const pool = new pg.Pool();
        ${fn(`await pool.transaction(async (tx) => {
          const found = await tx.query("select 1 from charges where id = 1");
          if (found.rows.length === 0) await tx.query("insert into charges (id) values (1)");
        });`)}`,
      ids: ["race"],
    },
    "an insert where a look found nothing": {
      code: fn(`const user = await db.users.findOne({ id: 1 }); if (!user) { await db.users.insert({ id: 1 }); }`),
      ids: ["race"],
      says: "db.users.insert is done because db.users.findOne found nothing",
    },
    "a creation behind a search, in somebody else's system": {
      code: fn(`
        const found = await stripe.customers.list({ email: event.data.email });
        if (found.data.length > 0) return found.data[0].id;
        return stripe.customers.create({ email: event.data.email });`),
      ids: ["race"],
    },
    "a mail behind a look into the log of sent ones": {
      code: fn(`
        const sent = await db.emailLog.findOne({ userId: 1 });
        if (sent) return "already sent";
        await emailService.send({ to: "t" });
        await db.emailLog.create({ userId: 1 });`),
      ids: ["race"],
      says: "emailService.send",
    },
    "a POST where a GET found nothing": {
      code: fn(`
        const found = await (await fetch(\`https://billing.example/invoices?of=\${event.data.id}\`)).json();
        if (found.length > 0) return;
        await fetch("https://billing.example/invoices", { method: "POST" });`),
      ids: ["race"],
    },
  },
});
