// docs/verify.md
// #region verify-config
export default {
  modules: ["src/functions.ts"], // what is verified where the command names nothing
  env: { STRIPE_KEY: "sk_test_placeholder" }, // set before your modules are loaded
  load: async () => openContainer(), // for clients that no import constructs: a container's
  fixtures: [{ method: "GET", host: "rates.example", path: "/v1/*", status: 200, body: { rate: 1.25 } }],
  functions: {
    "draft-invoice": {
      event: { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } },
      entity: "placementId", // the field that says which thing the event is about
      twin: { placementId: "8", clientId: "c4" }, // another one, where it cannot be made from the event
      waits: { "crm/placement.approved": { by: "ann" } }, // the data of an event or a signal it waits for; a star stands for anything
    },
  },
  databases: [{ file: "./shop.db" }], // each world has a copy: see below
  accept: [{ effect: "POST metrics.local/*", because: "telemetry", until: "2027-06-01" }],
};
// #endregion

declare function openContainer(): Promise<void>;
