// The shop as a process: opens its two files, goes on with whatever an earlier process left unfinished, and listens. It may be killed at any time.
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { backOffice } from "./back-office.mjs";
import { mailClient, stripeClient } from "./outside-clients.mjs";
import { openShop } from "./shop.mjs";
import { openDatabase } from "./shop-database.mjs";

const { folder, outside, port, webhookSecret } = JSON.parse(process.argv[2]);

// Failures that the story makes on purpose are told by the story.
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const adapter = sqliteAdapter(openDatabase(`${folder}/shop.db`));
await ensureTables(adapter, ["idempotency_keys", "idem_outbox", "idem_claims", "idem_steps"]);
const idem = new Idem({ id: "shop", store: `sqlite:${folder}/idem.db`, logger: quiet });
const { app, keys, outbox } = openShop({
  idem,
  adapter,
  stripe: stripeClient(`${outside}/stripe`),
  mailer: mailClient(`${outside}/mailer`),
  webhookSecret,
});
app.use("/back-office", backOffice(idem));
await idem.start();
const relay = outbox.relayTo(idem);
keys.startReaper();

process.once("SIGTERM", async () => {
  await keys.drain();
  await relay.stop();
  await idem.stop();
  process.exit(0);
});
// Without its parent the story is over; and Ctrl-C, which reaches every process of the terminal, is the parent's affair.
process.on("disconnect", () => process.exit(1));
process.on("SIGINT", () => {});
const server = app.listen(port, "127.0.0.1", () => process.send({ port: server.address().port }));
