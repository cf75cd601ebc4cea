// docs/dashboard.md

// #region express
import express from "express";
import { Idem } from "idem";
import { asListener } from "idem/node";

const idem = new Idem({ id: "shop" });
const app = express();

const dashboard = idem.dashboard({
  base: "/idem",
  authorize: async (request) => {
    const user = await userOf(request.headers.get("cookie"));
    if (user === null) return null; // sees nothing, not even a page
    return { role: user.isAdmin ? "operator" : "viewer", name: user.email }; // the audit says who
  },
});
app.use("/idem", asListener(dashboard));

await idem.start();
app.listen(3000);

// #endregion

// #region fetch
import { Hono } from "hono";

const hono = new Hono();
hono.all("/idem", (c) => dashboard(c.req.raw));
hono.all("/idem/*", (c) => dashboard(c.req.raw));

// Next.js, in app/idem/[[...path]]/route.ts
export { dashboard as DELETE, dashboard as GET, dashboard as PATCH, dashboard as POST, dashboard as PUT };

// #endregion

declare function userOf(cookie: string | null): Promise<{ email: string; isAdmin: boolean } | null>;
