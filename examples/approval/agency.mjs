// The agency: Bullhorn, Stripe, the approval queue, and an engine that can be switched off and on again.
import { Idem } from "idem";
import { placements as allPlacements } from "../double-invoice/placements.mjs";
import { startChild } from "../shop/child.mjs";
import { openQueue } from "./approval-queue.mjs";
import { fakeStripe } from "./fake-stripe.mjs";
import { invoicePlacement } from "./invoice-placement.mjs";

export const placements = allPlacements.slice(0, 12);

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export async function openAgency(folder) {
  const file = `${folder}/agency.db`;
  const queue = await openQueue(file);
  const stripe = fakeStripe({ losesAnswerFor: placements[0].id });
  const bullhorn = { placements: { get: async (id) => placements.find((placement) => placement.id === id) } };
  let engine = null;

  return {
    stripe,
    queue,
    idem: () => engine.idem,
    async switchOn() {
      const idem = new Idem({ id: "agency", store: `sqlite:${folder}/idem.db`, logger: quiet });
      invoicePlacement(idem, { bullhorn, stripe, queue });
      await idem.start();
      engine = { idem, relay: queue.outbox.relayTo(idem, { poll: "100ms" }) };
    },
    async switchOff() {
      await engine?.relay.stop();
      await engine?.idem.stop();
      engine = null;
    },
    person: (task) => startChild(new URL("./person-process.mjs", import.meta.url), { file, ...task }),
    async close() {
      await this.switchOff();
      queue.close();
    },
  };
}
