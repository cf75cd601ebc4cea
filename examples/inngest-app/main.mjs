// Starts `idem dev`, then the app, unchanged; lets the app send one placement twice, and shows what came of it.
import { fork, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const idem = join(dirname(createRequire(import.meta.url).resolve("idem/package.json")), "bin", "idem.mjs");
const folder = mkdtempSync(join(tmpdir(), "idem-inngest-app-"));
const store = `sqlite:${join(folder, "dev.db")}`;

const server = spawn(process.execPath, [idem, "dev", "--port", "0", "--store", store, "--no-discovery"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const origin = await new Promise((resolve, reject) => {
  let text = "";
  server.stdout.on("data", (chunk) => {
    text += chunk;
    const found = /listens +(http:\S+)/.exec(text);
    if (found !== null) resolve(found[1]);
  });
  server.once("exit", (code) => reject(new Error(`idem dev ended with ${code}`)));
});
console.log(`idem dev listens on ${origin}`);

const app = fork(join(here, "app.mjs"), { env: { ...process.env, INNGEST_DEV: origin, PORT: "0" } });
const said = (key) =>
  new Promise((resolve) => {
    const hear = (message) => {
      if (!(key in message)) return;
      app.off("message", hear);
      resolve(message[key]);
    };
    app.on("message", hear);
  });

try {
  const url = await said("url");
  await fetch(url, { method: "PUT" });
  console.log("the app has registered its functions\n");
  app.send("fire");
  await said("fired");
  const run = await ended();
  console.log(`\nrun ${run.id} of ${run.function} is ${run.state}: ${run.preview}`);
  const { decisions } = await (await fetch(`${origin}/api/decisions`)).json();
  for (const { kind, reason } of decisions.toReversed())
    console.log(`  ${kind}${reason === null ? "" : `: ${reason}`}`);
  for (const command of ["runs", "crons"]) {
    console.log(`\nBy hand: npx idem ${command} --store ${store}`);
    spawnSync(process.execPath, [idem, command, "--store", store], { stdio: "inherit" });
  }
} finally {
  app.kill();
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}

async function ended() {
  for (;;) {
    const { runs } = await (await fetch(`${origin}/api/runs?function=shop-draft-invoice`)).json();
    if (runs[0]?.endedAt) return runs[0];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
