// A child of the bench: the same charges behind Express, on a real socket.
import express from "express";
import { answerTo } from "./charges.ts";
import { openDatabase } from "./database.ts";
import { idempotency, idempotent, keepRawBody, sqlKeys } from "./idem.ts";

const database = await openDatabase(process.argv[2]!);
const keys = idempotency({
  keys: sqlKeys(database.adapter),
  principal: (request) => request.headers.get("x-account") ?? "",
});
const app = express();
app.use(express.json({ verify: keepRawBody }));
const charge: express.RequestHandler = (request, response) => {
  response.status(201).json(answerTo(request.body as { total: number }));
};
app.post("/bare", charge);
app.post("/charges", idempotent(keys, { onCrash: "park" }), charge);

const server = app.listen(0, "127.0.0.1", () => {
  process.send!({ port: (server.address() as { port: number }).port });
});
// Its parent hangs up.
process.once("disconnect", () => process.exit(0));
