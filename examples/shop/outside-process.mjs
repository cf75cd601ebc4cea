// Stripe and the mail provider: a process of their own, which survives whatever happens to the shop. `/story` is for the story alone.
import express from "express";
import { fakeMailer } from "./fake-mailer.mjs";
import { fakeStripe } from "./fake-stripe.mjs";

const { secret } = JSON.parse(process.argv[2]);

// What goes wrong for whom, once: the request is lost, its answer is lost, or the answer is held until whoever asked is dead.
const planned = new Map();
let held = 0;
const faults = {
  take(who) {
    const fault = planned.get(who);
    planned.delete(who);
    return fault;
  },
  hold(response) {
    held++;
    response.once("close", () => held--);
  },
};

const stripe = fakeStripe({ secret, faults });
const mailer = fakeMailer({ faults });
const app = express();
app.use("/stripe", stripe.api);
app.use("/mailer", mailer.api);

const story = express.Router();
story.use(express.json());
story.post("/faults", (req, res) => {
  for (const [who, fault] of Object.entries(req.body)) planned.set(who, fault);
  res.sendStatus(204);
});
story.post("/tell-at", (req, res) => {
  stripe.control.tellAt(req.body.url);
  res.sendStatus(204);
});
story.post("/forget", (_req, res) => {
  stripe.control.forget();
  res.sendStatus(204);
});
story.post("/redeliver", (_req, res) => {
  void stripe.control.redeliver();
  res.sendStatus(202);
});
story.get("/facts", (_req, res) => res.json({ ...stripe.facts(), ...mailer.facts(), held }));
app.use("/story", story);

process.on("disconnect", () => process.exit(1));
process.on("SIGINT", () => {});
const server = app.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
