// Before the acts: what one command says of the function as it was deployed. Nothing is deployed for it, and nothing is sent.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { placements } from "./placements.mjs";
import { bold, dim, green, print, red } from "./terminal.mjs";
import { holdChild } from "./worker-process.mjs";

const readingMs = 1_200;
const command = fileURLToPath(new URL("../bin/idem.mjs", import.meta.resolve("idem")));

export async function beforeItHappened({ folder, pace }) {
  print(bold("Prologue · what one command would have said"));
  print(dim("  npx idem verify as-deployed.mjs --event placement.json"));
  print();
  // Whoever reads what the story is about does not wait for it.
  const [{ functions, summary }] = await Promise.all([verify("as-deployed.mjs", folder), delay(readingMs * pace)]);
  const [{ verdict, findings }] = functions;
  const { thing, timeline, mend } = findings[0] ?? {};
  if (verdict !== "DOUBLED" || mend === null) throw new Error(`The verifier found ${verdict}: please report it.`);
  print(red(`  ✗ ${verdict}  ${thing}`));
  for (const { at, text } of timeline) {
    print(`    ${dim(new Date(at).toISOString().slice(11, 23))}  ${text.replaceAll(/ {2,}/g, "  ")}`);
  }
  print();
  for (const line of mend.text.split(/(?<=:) (?=idempotency)/)) print(`  ${line}`);
  for (const { file, line, before, after } of mend.edits) {
    print(dim(`  ${basename(file)}:${line}`));
    print(red(`  - ${before.trim()}`));
    print(green(`  + ${after.trim()}`));
  }
  print();
  print(
    dim(
      `  ${summary.schedules} schedules, ${(summary.tookMs / 1_000).toFixed(1)} s. Nobody asked, so it was deployed.`,
    ),
  );
  print();
}

/** In the story's folder: what the command remembers of it goes with the story. */
async function verify(module, cwd) {
  const here = (name) => fileURLToPath(new URL(name, import.meta.url));
  // What Bullhorn answers: the code reads more of it than an echo of the question holds.
  const fixtures = [{ method: "GET", host: "rest.bullhorn.example", path: "/placements/*", body: placements[0] }];
  writeFileSync(join(cwd, "idem.verify.mjs"), `export default ${JSON.stringify({ fixtures })};\n`);
  const args = [command, "verify", here(module), "--event", here("placement.json"), "--budget", "0", "--json"];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    child[stream].setEncoding("utf8").on("data", (chunk) => {
      said[stream] += chunk;
    });
  }
  const { code } = await holdChild(child);
  if (code !== 1) throw new Error(`idem verify ended with ${code}, and was to find something. ${said.stderr}`);
  return JSON.parse(said.stdout);
}
