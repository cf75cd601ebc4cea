import { placements } from "./double-invoice/placements.mjs";

// What `npx idem verify` looks at in this folder: functions of the examples, with their outside as a program reaches it.
export default {
  modules: [
    "double-invoice/as-mended.mjs",
    "shop/functions-by-http.mjs",
    "approval/functions-by-http.mjs",
    "readme/destinations.ts",
  ],
  // Nobody has it yet: each world begins with what the module sets up.
  databases: [{ file: "./approvals.db" }],
  fixtures: [{ method: "GET", host: "rest.bullhorn.example", path: "/placements/*", body: placements[0] }],
  functions: {
    "draft-invoice": {
      event: { name: "bullhorn/placement.event", data: { placementId: 1042, eventType: "INSERTED" } },
    },
    "invoice-placement": {
      event: { name: "bullhorn/placement.event", data: { placementId: 1042 } },
      waits: { "invoice/decided": { state: "approved", decided_by: "Anna" } },
    },
    "renew-membership": {
      event: { name: "membership/due", data: { customer: "cus_1", amount: 990 } },
      entity: "customer",
    },
    "pay-deposit": { event: { name: "deposit/due", data: { customer: "cus_1", amount: 990 } }, entity: "customer" },
    order: { event: { name: "cart/paid", data: { cartId: "cart-1", order: { intent: "CAPTURE" } } } },
  },
};
