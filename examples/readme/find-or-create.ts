// docs/find-or-create.md
// #region find
import { pgAdapter } from "idem/sql";
import { createOutbox, findOrCreate } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const outbox = createOutbox(adapter);

async function userOf(email: string, name: string) {
  return adapter.transaction(async (tx) => {
    const { record, wasCreated } = await findOrCreate(adapter.wrap(tx), {
      table: "users",
      unique: { email },
      create: () => ({ name, plan: "free" }),
    });
    if (wasCreated) await outbox.send(tx, { name: "user/created", data: { email } });
    return record;
  });
}

// #endregion

// #region upsert
import { upsert } from "idem/toolkit";

async function syncContact(contact: { crmId: string; email: string; phone: string | null }) {
  const { outcome } = await adapter.transaction((tx) =>
    upsert(adapter.wrap(tx), {
      table: "contacts",
      unique: { crm_id: contact.crmId },
      set: { email: contact.email, phone: contact.phone },
      create: { first_seen: new Date() },
    }),
  );
  return outcome; // "inserted", "updated" or "unchanged"
}

// #endregion

// #region remote
import { findOrCreateRemote } from "idem/toolkit";

declare const stripe: {
  customers: {
    search(query: { query: string }): Promise<{ data: { id: string }[] }>;
    create(customer: { email: string }, options: { idempotencyKey: string }): Promise<{ id: string }>;
  };
};

async function customerOf(user: { id: string; email: string }): Promise<string> {
  const { record } = await findOrCreateRemote(adapter, {
    kind: "stripe customer",
    key: user.id,
    visibleAfter: "1m", // how long Stripe's search may lag
    find: async () => {
      const { data } = await stripe.customers.search({ query: `email:"${user.email}"` });
      return data[0] === undefined ? null : { id: data[0].id };
    },
    create: async ({ idempotencyKey }) => {
      const { id } = await stripe.customers.create({ email: user.email }, { idempotencyKey });
      return { id };
    },
  });
  return record.id;
}

// #endregion

export { customerOf, syncContact, userOf };
