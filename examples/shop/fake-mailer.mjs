// A mail provider as most are: it takes no idempotency key, whatever is posted is sent. It can be searched by a header.
import express from "express";

export function fakeMailer({ faults }) {
  const mails = [];
  const api = express.Router();
  api.use(express.json());
  api.post("/mails", (req, res) => {
    const { to, subject, headers } = req.body;
    const mail = { id: `mail_${mails.length + 1}`, to, subject, headers };
    mails.push(mail);
    if (faults.take(to) === "hold-answer") return faults.hold(res);
    res.status(202).json({ id: mail.id });
  });
  api.get("/mails", (req, res) => res.json(mails.filter(({ headers }) => headers["x-tag"] === req.query.tag)));
  return { api, facts: () => ({ mails }) };
}
