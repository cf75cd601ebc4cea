// #region typed-events
import { Idem } from "idem";
import { z } from "zod";

const idem = new Idem({
  id: "shop",
  events: { "order/paid": z.object({ orderId: z.string(), total: z.number() }) },
});

// @ts-expect-error total is a number; at run time the same mistake is EVENT_SCHEMA at data.total
const refused = idem.send({ name: "order/paid", data: { orderId: "o-1", total: "10" } });

// #endregion

export { idem, refused };
