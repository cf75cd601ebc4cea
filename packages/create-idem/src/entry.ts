// Where each kind of project begins: a program, an API, pages.
import type { Form } from "./form.ts";

const plain = `import { idem } from "./idem.js";

await idem.start();
const orderId = Number(process.argv[2] ?? 7);
const event = { id: \`order-placed-\${orderId}\`, name: "order/placed", data: { orderId } };
const first = await idem.send(event);
const again = await idem.send(event); // a double click, a webhook that is delivered again
console.log(\`first: \${first.decisions[0]?.kind}, again: \${again.decisions[0]?.kind}\`);

const runId = first.decisions[0]?.runId;
if (runId != null) console.log(await idem.runs.wait(runId, { timeout: "1m" }));
await idem.stop();
`;

const express = `import express from "express";
import { idempotent, keepRawBody } from "idem/express";
import { engineKeys, idempotency } from "idem/http";
import { asListener } from "idem/node";
import { idem } from "./idem.js";

// Who asks: an account's id from your own session. Here, everybody without one is the same guest.
const keys = idempotency({
  keys: engineKeys(idem),
  principal: (request) => request.headers.get("x-account") ?? "guest",
});

const app = express();
app.use("/idem", asListener(idem.dashboard({ base: "/idem", dev: true }))); // this machine only; in production: authorize
app.use(express.json({ verify: keepRawBody })); // what is compared is bytes

// With the header Idempotency-Key a second request gets the first answer, byte for byte.
app.post("/orders", idempotent(keys, { onCrash: "rerun", required: false }), async (req, res) => {
  const { orderId } = req.body;
  const { decisions } = await idem.send({ id: \`order-placed-\${orderId}\`, name: "order/placed", data: { orderId } });
  res.status(201).json({ run: decisions[0]?.runId, decision: decisions[0]?.kind });
});

await idem.start();
const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, () => console.log(\`listening on http://localhost:\${port}, dashboard at /idem\`));

process.once("SIGTERM", async () => {
  server.close();
  await idem.stop(); // steps that run come to their end
  process.exit(0);
});
`;

const hono = `import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { idempotent } from "idem/hono";
import { engineKeys, idempotency } from "idem/http";
import { idem } from "./idem.js";

// Who asks: an account's id from your own session. Here, everybody without one is the same guest.
const keys = idempotency({
  keys: engineKeys(idem),
  principal: (request) => request.headers.get("x-account") ?? "guest",
});

const app = new Hono();
const dashboard = idem.dashboard({ base: "/idem", dev: true }); // this machine only; in production: authorize
app.all("/idem", (c) => dashboard(c.req.raw));
app.all("/idem/*", (c) => dashboard(c.req.raw));

// With the header Idempotency-Key a second request gets the first answer, byte for byte.
app.post("/orders", idempotent(keys, { onCrash: "rerun", required: false }), async (c) => {
  const { orderId } = await c.req.json();
  const { decisions } = await idem.send({ id: \`order-placed-\${orderId}\`, name: "order/placed", data: { orderId } });
  return c.json({ run: decisions[0]?.runId, decision: decisions[0]?.kind }, 201);
});

await idem.start();
const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port }, () =>
  console.log(\`listening on http://localhost:\${port}, dashboard at /idem\`),
);

process.once("SIGTERM", async () => {
  server.close();
  await idem.stop(); // steps that run come to their end
  process.exit(0);
});
`;

const next: Readonly<Record<string, string>> = {
  "next.config.ts": `// Idem has threads and files of its own, so it stays outside of the bundle.
export default { serverExternalPackages: ["idem"] };
`,
  "instrumentation.ts": `export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { idem } = await import("./lib/idem");
  await idem.start();
}
`,
  "app/layout.tsx": `import type { ReactNode } from "react";

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`,
  "app/page.tsx": `export default function Page() {
  return <a href="/idem">Runs</a>;
}
`,
  "app/orders/route.ts": `import { engineKeys, idempotency } from "idem/http";
import { idempotent } from "idem/next";
import { idem } from "../../lib/idem";

// Who asks: an account's id from your own session. Here, everybody without one is the same guest.
const keys = idempotency({
  keys: engineKeys(idem),
  principal: (request) => request.headers.get("x-account") ?? "guest",
});

// With the header Idempotency-Key a second request gets the first answer, byte for byte.
export const POST = idempotent(keys, { onCrash: "rerun", required: false }, async (request) => {
  const { orderId } = await request.json();
  const { decisions } = await idem.send({ id: \`order-placed-\${orderId}\`, name: "order/placed", data: { orderId } });
  return Response.json({ run: decisions[0]?.runId, decision: decisions[0]?.kind }, { status: 201 });
});
`,
  "app/idem/[[...path]]/route.ts": `import { idem } from "../../../lib/idem";

const dashboard = idem.dashboard({ base: "/idem", dev: true }); // this machine only; in production: authorize
export { dashboard as DELETE, dashboard as GET, dashboard as PATCH, dashboard as POST, dashboard as PUT };
`,
};

export function entryOf({ template }: Form): Readonly<Record<string, string>> {
  switch (template) {
    case "plain":
      return { "src/main.ts": plain };
    case "express":
      return { "src/main.ts": express };
    case "hono":
      return { "src/main.ts": hono };
    case "next":
      return next;
  }
}
