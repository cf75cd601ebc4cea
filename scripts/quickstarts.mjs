// Builds and runs the quick-starts whose framework is not among our dependencies, as they stand in docs/quickstarts: every block that begins
// with a path is written there, the framework and this package are installed, and an order is placed twice. Needs the network and a
// minute or two, so it has a command of its own: npm run quickstarts, or one of them: npm run quickstarts -- nextjs
// Then `idem verify` is given in its folder, with a configuration of at most ten lines: with a mail that has no key, and with one that has.
// In the folder of Next.js also an app of the official SDK is verified as `next dev` serves it, with its database: a row written blindly, and one the table knows again.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install, runtimes } from "../runtimes/runtimes.mjs";

// Where the Node that runs this has no SQLite inside that is new enough: what the pages say to install then.
const [major, minor, patch] = process.versions.node.split(".").map(Number);
const hasSqlite = major > 24 || (major === 24 && minor >= 15) || (major === 22 && minor * 100 + patch >= 2203);
const driver = hasSqlite ? [] : ["better-sqlite3"];

/** Of those that npm brings into `runtimes`, for a framework that the Node of this process is too old for. */
const newerNode = () => {
  if (major >= 22) return process.execPath;
  install();
  return runtimes().find(({ name }) => name === "node24").path;
};

const verifying = ["@mswjs/interceptors@0.41.9", "@swc/wasm"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const layout = `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
const nestOptions = {
  module: "nodenext",
  target: "es2023",
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  skipLibCheck: true,
  outDir: "dist",
};

const sending = (key) => `async (${key === null ? "" : "{ key }"}) => {
  const headers = ${key === null ? "{}" : `{ "Idempotency-Key": ${key} }`};
  const answer = await fetch("https://mail.example/messages", { method: "POST", headers, body: "confirmed" });
  if (!answer.ok) throw new Error(String(answer.status));
}`;
const functions = 'functions: { "confirm-order": { event: { name: "order/placed", data: { orderId: 7 } } } },';

/** Of the official SDK, behind a route of Next.js. */
const servedFiles = (unique, insert) => ({
  "app/api/inngest/route.ts": `import { serve } from "inngest/next";
import { confirmOrder, inngest } from "../../../lib/inngest";

export const { GET, POST, PUT } = serve({ client: inngest, functions: [confirmOrder] });
`,
  "lib/inngest.ts": `import Database from "better-sqlite3";
import { Inngest } from "inngest";

export const inngest = new Inngest({ id: "shop" });
const db = new Database("shop.db");
db.exec("create table if not exists invoices (id integer primary key, order_id text not null${unique})");

export const confirmOrder = inngest.createFunction(
  { id: "confirm-order", idempotency: "event.data.orderId", triggers: [{ event: "order/placed" }] },
  async ({ event, step }) => {
    await step.run("invoice", () => {
      db.prepare("${insert}").run(String(event.data.orderId));
    });
  },
);
`,
});
const blindly = "insert into invoices (order_id) values (?)";

const quickstarts = {
  nextjs: {
    served: {
      configuration: `export default {
  databases: [{ file: "./shop.db" }],
  ${functions}
};
`,
      faulty: servedFiles("", blindly),
      mended: servedFiles(" unique", `${blindly} on conflict do nothing`),
      args: ["-u", "http://localhost:3000/api/inngest", "--start", "npx next dev", "--budget", "40s"],
    },
    verified: { file: "lib/idem.ts", mail: /\(\) => console\.log\(`[^`]*`\)/ },
    configuration: `export default {
  modules: ["app/api/orders/route.ts"],
  ${functions}
};
`,
    install: [
      ...["next@16", "react", "react-dom", "typescript@5", "@types/react", "@types/node@20"],
      ...["inngest@4", "better-sqlite3"],
    ],
    beside: { "app/layout.tsx": layout, "app/page.tsx": "export default () => null;\n" },
    build: ["node_modules/next/dist/bin/next", "build"],
    start: (port) => ["node_modules/next/dist/bin/next", "start", "-p", String(port)],
    orders: "/api/orders",
  },
  nestjs: {
    verified: { file: "src/orders.functions.ts", mail: /\(\) => mailer\.send\(`[^`]*`\)/ },
    // The page's own module stands in main.ts, which listens.
    module: `import { Module } from "@nestjs/common";
import { idemModule } from "idem/nestjs";
import { idem } from "./idem.js";
import { Mailer } from "./mailer.js";
import { OrdersFunctions } from "./orders.functions.js";

@Module({ imports: [idemModule(idem)], providers: [Mailer, OrdersFunctions] })
export class FunctionsModule {}
`,
    configuration: `import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import { FunctionsModule } from "./src/functions.module.js";

export default {
  load: () => NestFactory.createApplicationContext(FunctionsModule, { logger: false }),
  ${functions}
};
`,
    install: [
      ...["@nestjs/core@12", "@nestjs/common@12", "@nestjs/platform-express@12", "reflect-metadata", "rxjs"],
      ...["typescript@5", "@types/node@20"],
    ],
    beside: { "tsconfig.json": JSON.stringify({ compilerOptions: nestOptions, include: ["src"] }) },
    build: ["node_modules/typescript/bin/tsc"],
    start: () => ["dist/main.js"],
    orders: "/orders",
  },
  sveltekit: {
    node: newerNode,
    verified: { file: "src/lib/server/idem.ts", mail: /\(\) => console\.log\(`[^`]*`\)/ },
    configuration: `export default {
  modules: ["src/lib/server/idem.ts"],
  ${functions}
};
`,
    install: [
      ...["@sveltejs/kit@3", "@sveltejs/adapter-node@6", "@sveltejs/vite-plugin-svelte@7", "svelte@5", "vite@8"],
      ...["typescript@6", "@types/node@20"],
    ],
    beside: {
      "vite.config.ts": `import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";

export default { plugins: [sveltekit({ adapter: adapter() })] };
`,
      "src/app.html": "<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n",
      "src/routes/+page.svelte": "<h1>shop</h1>\n",
      "package.json": '{ "private": true, "type": "module" }\n',
    },
    build: ["node_modules/vite/bin/vite.js", "build"],
    start: () => ["build"],
    orders: "/api/orders",
  },
};

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function placeOrder(url) {
  for (let tries = 0; ; tries++) {
    try {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ orderId: 7 }) });
      return { status: answer.status, ...(await answer.json()) };
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function expectSame(what, found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
}

function configure(folder, configuration) {
  const lines = configuration.trim().split("\n").length;
  if (lines > 10) throw new Error(`${lines} lines of configuration`);
  writeFileSync(join(folder, "idem.verify.ts"), configuration);
}

function expectVerdict(folder, args, verdict) {
  const all = [join("node_modules", "idem", "bin", "idem.mjs"), "verify", "--reporter", "json", ...args];
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, encoding: "utf8", env });
  const functions = JSON.parse(stdout || "null")?.functions;
  expectSame("idem verify", functions?.map((each) => [each.id, each.verdict]) ?? stderr, [["confirm-order", verdict]]);
  return functions[0];
}

/** Another app in its place, as its own command serves it, in processes that are killed. */
function verifyServed(folder, before, { configuration, faulty, mended, args }) {
  for (const path of before) rmSync(join(folder, path));
  configure(folder, configuration);
  for (const [files, verdict] of [
    [faulty, "DOUBLED"],
    [mended, "HELD"],
  ]) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { findings, schedules, unplayed } = expectVerdict(folder, args, verdict);
    const lines = findings.map(({ place }) => `${place?.file}:${place?.line}`);
    expectSame("its lines", lines, verdict === "HELD" ? [] : ["lib/inngest.ts:12"]);
    console.log(`  next dev, ${verdict} in ${schedules} of ${schedules + unplayed} schedules`);
  }
}

/** A stranger's own project, from its own folder. */
function verify(folder, { verified, configuration, module }) {
  configure(folder, configuration);
  if (module !== undefined) writeFileSync(join(folder, "src", "functions.module.ts"), module);
  const file = join(folder, verified.file);
  const printed = readFileSync(file, "utf8");
  for (const [key, verdict] of [
    [null, "DOUBLED"],
    ["key", "HELD"],
  ]) {
    writeFileSync(file, printed.replace(verified.mail, sending(key)));
    expectVerdict(folder, ["--budget", "0"], verdict);
  }
}

async function prove(name, quickstart) {
  const { install: packages, beside, build, start, orders, node = () => process.execPath } = quickstart;
  const folder = mkdtempSync(join(tmpdir(), `idem-${name}-`));
  const page = readFileSync(join(root, "docs", "quickstarts", `${name}.md`), "utf8");
  const blocks = [...page.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, path, code]) => [path, code]);
  for (const [path, text] of [["package.json", '{ "private": true }\n'], ...blocks, ...Object.entries(beside)]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const run = (command, args) =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
    });
  const pack = [
    "pack",
    "--loglevel=error",
    "--ignore-scripts",
    "--pack-destination",
    folder,
    join(root, "packages", "idem"),
  ];
  const tarball = run("npm", pack).trim().split("\n").at(-1);
  run("npm", [
    "install",
    "--loglevel=error",
    "--no-audit",
    "--no-fund",
    `./${tarball}`,
    ...driver,
    ...verifying,
    ...packages,
  ]);
  run(node(), build);
  const port = await freePort();
  const server = spawn(node(), start(port), {
    cwd: folder,
    env: { ...process.env, PORT: String(port), NODE_ENV: "production" },
  });
  let out = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (out += text));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    const origin = `http://localhost:${port}`;
    const first = await placeOrder(origin + orders);
    expectSame("the first order", [first.status, first.decision], [201, "started"]);
    const again = await placeOrder(origin + orders);
    expectSame("the second order", [again.status, again.decision, again.run], [201, "duplicate-key", first.run]);
    const page = await fetch(`${origin}/idem`);
    expectSame("the dashboard", [page.status, (await page.text()).includes("idem-base")], [200, true]);
    expectSame("the mails", out.match(/^mail: order 7$/gm)?.length, 1);
  } catch (error) {
    console.error(out);
    throw error;
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
  verify(folder, quickstart);
  const written = blocks.map(([path]) => path);
  if (quickstart.served !== undefined) verifyServed(folder, written, quickstart.served);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${name}: built, started, one order placed twice: one run, one mail; verified, with a key and without`);
}

const wanted = process.argv.slice(2);
for (const [name, quickstart] of Object.entries(quickstarts)) {
  if (wanted.length === 0 || wanted.includes(name)) await prove(name, quickstart);
}
