// What every app here has in common: a client of the official SDK, and Node's own server around its functions.
import { createServer } from "node:http";
import { Inngest } from "inngest";
import { serve } from "inngest/node";

export const inngest = new Inngest({ id: "shop" });

export const host = (...functions) =>
  createServer(serve({ client: inngest, functions })).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
