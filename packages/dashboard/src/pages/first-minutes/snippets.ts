// Code that connects an app, of four kinds, with this server's own address.

export interface Snippet {
  readonly file: string;
  readonly text: string;
}

export interface AppKind {
  readonly name: string;
  readonly snippets: readonly Snippet[];
}

const confirmOrder = `idem.createFunction(
  { id: "confirm-order", idempotency: "event.data.orderId" },
  { event: "order/placed" },
  async ({ event, step }) => {
    await step.run("mail", () => console.log(\`mail: order \${event.data.orderId}\`));
  },
);`;

const client = (origin: string): string => `import { Idem } from "idem";

export const idem = new Idem({ id: "shop", server: "${origin}" });

${confirmOrder}
`;

/** `origin`: the server's address for apps on its own machine. */
export const appKinds = (origin: string): readonly AppKind[] => [
  {
    name: "Next.js",
    snippets: [
      { file: "lib/idem.ts", text: client(origin) },
      {
        file: "app/api/idem/route.ts",
        text: `import { serve } from "idem/next";
import { idem } from "../../../lib/idem";

export const { GET, PUT, POST } = serve(idem);
`,
      },
      { file: "terminal", text: "npm install idem\nIDEM_DEV=1 npx next dev" },
    ],
  },
  {
    name: "Express",
    snippets: [
      {
        file: "server.mjs",
        text: `import express from "express";
import { serve } from "idem/express";
${client(origin).replace("export const", "\nconst").replace("\n\n\n", "\n\n")}
express().use("/api/idem", serve(idem)).listen(3000);
`,
      },
      { file: "terminal", text: "npm install idem express\nIDEM_DEV=1 node server.mjs" },
    ],
  },
  {
    name: "Inngest app",
    snippets: [
      {
        file: "terminal",
        text: `INNGEST_DEV=${origin} npm run dev`,
      },
    ],
  },
];

/** Beside an engine of its own there is no server to connect to. */
export const embeddedKind: AppKind = {
  name: "Embedded",
  snippets: [
    {
      file: "app.mjs",
      text: `import { createServer } from "node:http";
import { Idem } from "idem";
import { asListener } from "idem/node";

const idem = new Idem({ id: "shop" }); // keeps its facts in .idem/shop.db

${confirmOrder}

await idem.start();
createServer(asListener(idem.dashboard({ base: "/", dev: true }))).listen(3000);
`,
    },
    { file: "terminal", text: "npm install idem\nnode app.mjs" },
  ],
};

export const embeddedNote =
  "Embedded functions run in your own process, with a store and a dashboard of their own: open http://localhost:3000, not this page.";

/** Plain data for a function's first event: the field its key is made of. */
export function firstData(expression: string | null): string {
  const field = /^event\.data\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression ?? "")?.[1];
  return field === undefined ? "{}" : JSON.stringify({ [field]: 1 });
}
