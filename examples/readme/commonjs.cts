// A CommonJS project requires Idem with its types; what it gets is what others import.
import express = require("idem/express");
import sql = require("idem/sql");
import idem = require("idem");

const client = new idem.Idem({ id: "shop" });
client.createFunction({ id: "draft-invoice" }, { event: "placement/made" }, async ({ step }) => {
  const draft: { readonly id: string } = await step.run("create-draft", ({ key }) => ({ id: "in_1", key }));
  return draft.id;
});

export = { client, serve: express.serve(client), adapter: sql.sqliteAdapter };
