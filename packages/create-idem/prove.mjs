// npm run create [-- plain express hono next] [--store sqlite|postgres]
//
// Proves `npm create idem` as a stranger has it: packed, made in an empty folder by the packed command, installed, its test run, verified, linted, built and
// started, and the same order placed twice. By default every template on SQLite and the plain one on PostgreSQL. Needs the network and several minutes.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startLocalPostgres } from "../../scripts/local-postgres.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { positionals, values } = parseArgs({ allowPositionals: true, options: { store: { type: "string" } } });

const run = (cwd, command, args, env = {}) =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", ...env },
  });
const npm = (cwd, args, env) => run(cwd, "npm", ["--loglevel=error", ...args], env);

function pack(folder) {
  const packed = ["idem", "eslint-plugin", "create-idem"].map((name) => {
    const args = ["pack", "--ignore-scripts", "--pack-destination", folder, join(root, "packages", name)];
    return join(folder, npm(folder, args).trim().split("\n").at(-1));
  });
  return { idem: packed[0], "eslint-plugin-idem": packed[1], create: packed[2] };
}

function expectSame(what, found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
}

/** Packages that are not published yet are taken from where they were packed. */
function install(folder, packed) {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  manifest.dependencies.idem = `file:${packed.idem}`;
  manifest.devDependencies["eslint-plugin-idem"] = `file:${packed["eslint-plugin-idem"]}`;
  writeFileSync(path, JSON.stringify(manifest, null, 2));
  npm(folder, ["install", "--no-audit", "--no-fund"]);
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function placeOrder(url, key) {
  for (let tries = 0; ; tries++) {
    try {
      const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) };
      const answer = await fetch(url, { method: "POST", headers, body: '{"orderId":7}' });
      const { run: runId, decision } = await answer.json();
      return { status: answer.status, runId, decision, replayed: answer.headers.get("idempotent-replayed") };
    } catch (error) {
      if (tries === 150) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** An API: one order by two requests, then by two with one key, then the end. */
async function serve(folder, template, env) {
  const port = await freePort();
  const args =
    template === "next" ? ["node_modules/next/dist/bin/next", "start", "-p", String(port)] : ["dist/main.js"];
  const server = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env, PORT: String(port), NODE_ENV: "production" },
  });
  let out = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (out += text));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    const url = `http://localhost:${port}/orders`;
    const first = await placeOrder(url);
    expectSame("the first order", [first.status, first.decision], [201, "started"]);
    const again = await placeOrder(url);
    expectSame("the second order", [again.status, again.decision, again.runId], [201, "duplicate-event", first.runId]);
    const clicks = [await placeOrder(url, "click-1"), await placeOrder(url, "click-1")];
    expectSame(
      "two clicks",
      clicks.map(({ replayed }) => replayed),
      [null, "true"],
    );
    const page = await fetch(`http://localhost:${port}/idem`);
    expectSame("the dashboard", [page.status, (await page.text()).includes("idem-base")], [200, true]);
    expectSame("charges", out.match(/^charging order 7$/gm)?.length, 1);
  } catch (error) {
    console.error(out);
    throw error;
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

async function prove(template, store, packed, databaseUrl) {
  const began = Date.now();
  const place = mkdtempSync(join(tmpdir(), `idem-made-${template}-`));
  const made = ["exec", "--yes", `--package=${packed.create}`, "--", "create-idem", "my-app"];
  npm(place, [...made, "--template", template, "--store", store, "--yes"]);
  const folder = join(place, "my-app");
  const env = store === "postgres" ? { DATABASE_URL: databaseUrl } : {};
  install(folder, packed);
  npm(folder, ["test"]);
  npm(folder, ["run", "verify"]);
  npm(folder, ["run", "lint"]);
  npm(folder, ["run", "build"], env);
  if (template === "plain") {
    if (store === "postgres") writeFileSync(join(folder, ".env"), `DATABASE_URL=${databaseUrl}\n`);
    const outs = [npm(folder, ["start"]), npm(folder, ["start"])];
    expectSame("charges", outs.join("\n").match(/^charging order 7$/gm)?.length, 1);
    expectSame(
      "decisions",
      outs.map((out) => /^first: .*$/m.exec(out)?.[0]),
      ["first: started, again: duplicate-event", "first: duplicate-event, again: duplicate-event"],
    );
  } else await serve(folder, template, env);
  rmSync(place, { recursive: true, force: true });
  const seconds = ((Date.now() - began) / 1_000).toFixed(0);
  console.log(
    `${template} on ${store}: made, installed, tested, verified, linted, built; twice is once (${seconds} s)`,
  );
}

const templates = positionals.length > 0 ? positionals : ["plain", "express", "hono", "next"];
const all = templates.flatMap((template) => {
  if (values.store !== undefined) return [[template, values.store]];
  return template === "plain" && positionals.length === 0
    ? [
        [template, "sqlite"],
        [template, "postgres"],
      ]
    : [[template, "sqlite"]];
});
const folder = mkdtempSync(join(tmpdir(), "idem-packed-"));
const postgres = all.some(([, store]) => store === "postgres") ? await startLocalPostgres() : null;
try {
  const packed = pack(folder);
  for (const [template, store] of all) await prove(template, store, packed, postgres?.url);
} catch (error) {
  console.error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
  await postgres?.crash();
  await postgres?.remove();
}
