// What the shop's people can do: start what a nightly job would start, look at runs, and say what became of a parked effect.
import express from "express";

export function backOffice(idem) {
  const router = express.Router();
  router.post("/events", async (req, res) => res.json(await idem.send(req.body)));
  router.get("/runs", async (req, res) => {
    res.json(await idem.runs.list({ function: req.query.function, limit: 1_000 }));
  });
  router.get("/events", async (req, res) => {
    res.json(await idem.events.list({ name: req.query.name, limit: 1_000 }));
  });
  router.get("/effects", async (_req, res) => res.json(await idem.effects.list({ limit: 1_000 })));
  /** It did happen: the receipt is recorded, and the run goes on from its step without sending anything. */
  router.post("/effects/found", async (req, res) => {
    const { id, runId, step, receipt } = req.body;
    await idem.effects.resolve(id, { receipt }, { reason: "found in Stripe's dashboard" });
    res.json(await idem.runs.rerun(runId, { fromStep: step }));
  });
  return router;
}
