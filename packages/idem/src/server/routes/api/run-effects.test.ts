import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listRunEffects } from "./list-run-effects.ts";
import { readRun } from "./read-run.ts";

describe.each(stores)("effects of a run over /api on %s", (store) => {
  async function shop() {
    const world = await apiWorld({ store });
    await world.start({
      charge: {
        on: "order/paid",
        options: { retries: 0 },
        run: async ({ event, step }) => {
          const entity = `order-${event.data.order}`;
          const invoice = await step.effect("invoice", { destination: "stripe", entity }, ({ key }) => ({
            id: `in_${key.length}`,
          }));
          await step.effect("tell", { destination: "slack", entity, reconcile: () => "unknown" as never }, () => ({
            ts: 7,
          }));
          return invoice;
        },
      },
    });
    return world;
  }

  test("they say where they went, under which key, and what the destination calls them", async () => {
    const world = await shop();
    const { runId } = await world.send({ name: "order/paid", data: { order: 7 } });
    await world.send({ name: "order/paid", data: { order: 8 } });
    await world.idle();
    const { run, workers } = (await world.ask(readRun, { params: { run: runId } })).body;
    const { effects } = (await world.ask(listRunEffects, { params: { run: runId } })).body;
    const [invoice, tell] = run.timeline;
    expect(effects).toMatchObject([
      {
        stepId: invoice.stepId,
        step: "invoice",
        destination: "stripe",
        key: invoice.destinationKey,
        isKeyed: true,
        receipt: "in_45",
        tries: 1,
      },
      { stepId: tell.stepId, step: "tell", destination: "slack", entity: "order-7", isKeyed: false, state: "sent" },
    ]);
    expect(invoice.input.value).toEqual({ destination: "stripe", entity: "order-7", key: invoice.destinationKey });
    // Nobody in this world said which process it is.
    expect(workers).toEqual({});
  });

  test("a run that nobody knows has none to list", async () => {
    const world = await shop();
    expect((await world.ask(listRunEffects, { params: { run: "01ARZ3NDEKTSV4RRFFQ69G5FAV" } })).status).toBe(404);
  });
});
