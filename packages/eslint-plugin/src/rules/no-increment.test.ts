import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => { await step.run("a", async ({ key }) => { ${body} }); });`;

tell("no-increment", {
  right: {
    "a value that is set": fn(
      `await pool.query("update stats set count = $1 where id = $2", [3, 1]); await prisma.account.update({ where: { id: 1 }, data: { balance: 5 } });`,
    ),
    "an addition in one commit with its step": `idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
      await step.transaction("take", async (tx) => { await tx.query("update stock set left_over = left_over - $1", [event.data.count]); });
    });`,
    "an addition in a transaction that also marks it as done": fn(`
      await db.transaction(async (tx) => {
        const marked = await tx.query("insert into processed_events (id) values ($1) on conflict do nothing returning id", [event.id]);
        if (marked.rowCount === 1) await tx.query("update accounts set balance = balance + $1", [event.data.amount]);
      });
      await prisma.$transaction([prisma.processedEvent.create({ data: { eventId: event.id } }), prisma.account.update({ where: { id: 1 }, data: { balance: { increment: 1 } } })]);`),
    "the same, with begin and commit written out": fn(`
      const client = await pool.connect();
      await client.query("begin");
      const noted = await client.query("insert into charges values ($1) on conflict do nothing", [event.data.id]);
      if (noted.rowCount > 0) await client.query("update accounts set balance = balance - 10");
      await client.query("commit");`),
    "an addition that is true only once": fn(
      `await pool.query("update accounts set balance = balance + $1 where id = $2 and last_event <> $3", [1, 2, event.id]);`,
    ),
    "an addition beside a state that moves once": fn(
      `await pool.query("update orders set state = 'shipped', version = version + 1 where id = $1 and state = 'paid'", [1]);`,
    ),
    "an addition in the inbox's transaction": fn(
      `await inbox.process(adapter, { source: "s", id: event.id }, async (tx) => { await tx.query("update stock set n = n + 1"); });`,
    ),
    "texts that are joined": fn(
      "const found = await db.users.findOne({ id: 1 }); await db.users.update({ id: 1 }, { name: 'Mr ' + found.name });",
    ),
    "what was read, with the version it had": fn(`
      const found = await (await fetch("https://a.example/b")).json();
      await fetch("https://a.example/b", { method: "PUT", headers: { "if-match": found.etag }, body: JSON.stringify({ n: found.n + 1 }) });`),
    "a sum that was made in a step before": `idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
      const account = await step.run("read", () => db.accounts.findOne({ id: 1 }));
      await step.run("write", () => db.accounts.update({ id: 1 }, { balance: account.balance + 1 }));
    });`,
  },
  wrong: {
    "a column that is added to": {
      code: fn(`await pool.query("UPDATE stats SET count = count + 1 WHERE id = $1", [1]);`),
      ids: ["increment"],
      says: "the update of stats adds",
    },
    "the same, as a tagged template and through builders": {
      code: fn(`
        await sql\`update accounts set balance = balance - \${event.data.amount} where id = 1\`;
        await prisma.account.update({ where: { id: 1 }, data: { balance: { increment: 10 } } });
        await db.collection("accounts").updateOne({ _id: 1 }, { $inc: { balance: 10 } });
        await knex("accounts").where({ id: 1 }).increment("balance", 10);
        await redis.incr("count");`),
      ids: ["increment", "increment", "increment", "increment", "increment"],
    },
    "an addition as long as there is enough": {
      code: fn(
        `await pool.query("update stock set left_over = left_over - 1, seen = 1 where item = $1 and left_over >= 1", [1]);`,
      ),
      ids: ["increment"],
    },
    "a row that is locked, and marks nothing": {
      code: fn(`
        await client.query("begin");
        const { rows } = await client.query("select balance from accounts where id = $1 for update", [1]);
        await client.query("update accounts set balance = $1 where id = $2", [rows[0].balance - 10, 1]);
        await client.query("commit");
        await db.transaction(async (tx) => { await tx.query("select n from a for update"); await tx.query("update a set n = n + 1"); });`),
      ids: ["readWrite", "increment"],
    },
    "a sum that is given to a statement when it runs": {
      code: fn(`
        const { balance } = db.prepare("select balance from accounts where id = 1").get();
        db.prepare("update accounts set balance = ? where id = 1").run(balance - 10);`),
      ids: ["readWrite"],
    },
    "a mark that stands in another transaction": {
      code: fn(`
        await client.query("begin");
        await client.query("insert into charges values ($1) on conflict do nothing", [event.data.id]);
        await client.query("commit");
        await client.query("begin");
        await client.query("update accounts set balance = balance - 10");
        await client.query("commit");`),
      ids: ["increment"],
    },
    "a transaction that marks nothing": {
      code: fn(`await db.transaction(async (tx) => { await tx.query("update a set n = n + 1"); });`),
      ids: ["increment"],
    },
    "a file that is appended to": {
      code: `import { appendFile } from "node:fs/promises"; ${fn(`await appendFile("journal.csv", "x");`)}`,
      ids: ["append"],
    },
    "what was read, and something added": {
      code: fn(`
        const { points = 0, tags = [] } = await (await fetch("https://a.example/b")).json();
        await fetch("https://a.example/b", { method: "PUT", body: JSON.stringify({ points: points + 10 }) });
        await fetch("https://a.example/b", { method: "PATCH", body: JSON.stringify({ tags: [...tags, event.data.id] }) });`),
      ids: ["readWrite", "readWrite"],
    },
  },
});
