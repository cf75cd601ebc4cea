import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await step.run("a", async () => { ${body} }); });`;

tell("insert-on-conflict", {
  right: {
    "statements that say what happens": fn(`
      await pool.query("insert into users (id) values ($1) on conflict (id) do nothing", [event.data.id]);
      await pool.query("insert ignore into users (id) values (?)", [event.data.id]);
      await sql\`insert into users (id) values (\${event.data.id}) on conflict (id) do update set name = 'n'\`;
      db.prepare("insert or replace into users (id) values (?)").run(event.data.id);`),
    "builders that say it": fn(`
      await db.insert(users).values({ id: 1 }).onConflictDoNothing();
      await kysely.insertInto("users").values({ id: 1 }).onConflict((c) => c.doNothing()).execute();
      await prisma.user.upsert({ where: { id: 1 }, create: {}, update: {} });
      await prisma.user.createMany({ data: [], skipDuplicates: true });
      await supabase.from("users").upsert({ id: 1 });
      await db.users.findOrCreate({ id: 1 }, {});`),
    "a row that is named by a key": fn(`await db.payments.create({ idempotencyKey: event.id, amount: 1 });`),
    "a unique violation that is caught": fn(
      `try { await prisma.user.create({ data: { id: 1 } }); } catch (error) { if (error.code !== "P2002") throw error; }`,
    ),
    "one commit with the step": `idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => { await step.transaction("a", (tx) => tx.query("insert into a (b) values (1)")); });`,
    "a transaction that marks what was done": fn(
      `await prisma.$transaction(async (tx) => { await tx.processedEvent.create({ data: { eventId: event.id } }); await tx.user.create({ data: {} }); });`,
    ),
    "an API of the project itself": `export const POST = () => prisma.user.create({ data: {} });`,
    "what only sounds like an insert": fn(
      `const sandbox = await Sandbox.create("x"); const agent = createAgent({}); Object.create(null);`,
    ),
  },
  wrong: {
    "blind inserts as SQL": {
      code: fn(`
        await pool.query("insert into users (name) values ($1)", ["n"]);
        await sql\`insert into users (name) values (\${event.data.name})\`;
        db.prepare("insert into users (name) values (?)").run("n");`),
      ids: ["blind", "blind", "blind"],
      says: "the insert of users inserts blindly",
    },
    "blind inserts by builders": {
      code: fn(`
        await db.users.insert({ name: "n" });
        await db.insert(users).values({ name: "n" });
        await prisma.user.create({ data: { name: "n" } });
        await supabase.from("users").insert({ name: "n" });
        await svc.from("users").insert({ name: "n" });
        await kysely.insertInto("users").values({ name: "n" }).execute();
        await db.collection("users").insertOne({ name: "n" });`),
      ids: ["blind", "blind", "blind", "blind", "blind", "blind", "blind"],
    },
    "one in a helper that a step calls": {
      code: `async function create(id) { return db.users.insert({ id }); } ${fn(`await create(event.data.id);`)}`,
      ids: ["blind"],
    },
  },
});
