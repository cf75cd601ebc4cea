// Act 4: a charge is retried after Stripe has forgotten its key. Asked blindly, Stripe would charge again; so it is looked up, or left to a person.
import { line } from "./counts.mjs";
import { until } from "./until.mjs";

const cents = 990;

export async function forgotten(world) {
  const chargesOf = async (customer) =>
    (await world.outside()).charges.filter((charge) => charge.customer === customer);
  const ended = (name) =>
    until(`the end of ${name}`, async () => {
      const runs = await world.backOffice(`/runs?function=${name}`);
      return runs.length > 0 && runs.every(({ state }) => state === "completed" || state === "failed") && runs;
    });

  // Proof that it forgets: the story itself asks twice with one key.
  await world.askStripe({ amount: 1, customer: "cus_probe" }, "key-of-the-probe");
  await world.plan({ cus_lost_answer: "lose-answer", cus_lost_request: "lose-request", cus_deposit: "lose-answer" });
  const due = (name, customer) => ({ name, data: { customer, amount: cents } });
  await world.backOffice("/events", [
    due("membership/due", "cus_lost_answer"),
    due("membership/due", "cus_lost_request"),
    due("deposit/due", "cus_deposit"),
  ]);
  await until("the first try of each", async () => (await world.backOffice("/effects")).length === 3);
  await until("two charges of which the shop heard nothing", async () => {
    const lost = [...(await chargesOf("cus_lost_answer")), ...(await chargesOf("cus_deposit"))];
    return lost.length === 2;
  });
  await world.forget();
  await world.askStripe({ amount: 1, customer: "cus_probe" }, "key-of-the-probe");

  const renewals = await ended("renew-membership");
  await ended("pay-deposit");
  const parked = (await world.backOffice("/effects")).find(({ state }) => state === "parked");
  const chargedWhileParked = (await chargesOf("cus_deposit")).length;
  // A person looks into Stripe's dashboard, finds the charge, and says so.
  const [{ id: receipt }] = await chargesOf("cus_deposit");
  const isSettled = parked !== undefined && (await settle(world, { ...parked, receipt }));
  const counts = {
    found: (await chargesOf("cus_lost_answer")).length,
    absent: (await chargesOf("cus_lost_request")).length,
    settled: (await chargesOf("cus_deposit")).length,
    probe: (await chargesOf("cus_probe")).length,
  };
  return {
    parked: { reason: parked?.reason ?? "not parked", receipt },
    lines: [
      line("a probe: one key, asked again after Stripe forgot it", 2, counts.probe),
      line("renewals completed", 2, renewals.filter(({ state }) => state === "completed").length),
      line("charges: answer lost, look-up finds it, nothing sent", 1, counts.found),
      line("charges: request lost, look-up finds none, so sent", 1, counts.absent),
      line("charges: answer lost, no look-up, so parked", 1, chargedWhileParked),
      line("charges: of the parked one, settled by a person", 1, isSettled ? counts.settled : 0),
    ],
  };
}

/** The run goes on from the step, and ends. */
async function settle(world, found) {
  const { runId } = await world.backOffice("/effects/found", found);
  await until("the deposit's second run has ended", async () => {
    const runs = await world.backOffice("/runs?function=pay-deposit");
    return runs.some(({ id, state }) => id === runId && state === "completed");
  });
  return true;
}
