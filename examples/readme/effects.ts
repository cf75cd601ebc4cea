// docs/effects.md

// #region effect
import { Idem } from "idem";
import { stripe } from "./stripe.ts";

const idem = new Idem({ id: "billing" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "bullhorn/placement.event" },
  async ({ event, step }) => {
    const invoice = await step.effect(
      "create-invoice",
      { destination: "stripe", entity: `placement-${event.data.placementId}` },
      ({ key }) => stripe.invoices.create({ customer: event.data.customer }, { idempotencyKey: key }),
    );
    return { invoice: invoice.id };
  },
);
// #endregion

interface Message {
  readonly ts: string;
  readonly mark: string;
}
declare const slack: {
  post(channel: string, text: string, mark: string): Promise<Message>;
  history(channel: string, since: number): Promise<readonly Message[]>;
};

// #region reconcile
idem.createFunction({ id: "tell-team" }, { event: "placement/won" }, async ({ event, step }) =>
  step.effect(
    "post",
    {
      destination: "slack",
      entity: event.data.placementId,
      receipt: (message: Message) => message.ts,
      reconcile: async ({ key, since }) => {
        const found = (await slack.history("#wins", since)).find(({ mark }) => mark === key);
        return found === undefined ? "absent" : { found };
      },
    },
    ({ key }) => slack.post("#wins", "We won one", key),
  ),
);
// #endregion

// #region settle
async function afterAnIncident(): Promise<void> {
  for (const effect of await idem.effects.list({ parked: true })) {
    console.log(effect.id, effect.runId, effect.step, new Date(effect.firstTriedAt).toISOString(), effect.reason);
  }
}

async function itHappened(id: string, runId: string): Promise<void> {
  await idem.effects.resolve(id, { receipt: "in_1Nq8" }, { reason: "found in the dashboard" });
  await idem.runs.rerun(runId, { fromStep: "create-invoice" });
}

async function itDidNot(id: string, runId: string): Promise<void> {
  await idem.effects.resolve(id, "retry");
  await idem.runs.rerun(runId, { fromStep: "create-invoice" });
}
// #endregion

// #region doubled
async function twoInvoicesForOne(): Promise<readonly string[]> {
  const doubled = await idem.effects.doubled({ destination: "stripe", within: "30d" });
  return doubled.map(({ entity, effects }) => `${entity}: ${effects.map(({ receipt }) => receipt).join(" and ")}`);
}

// #endregion

export { afterAnIncident, idem, itDidNot, itHappened, twoInvoicesForOne };
