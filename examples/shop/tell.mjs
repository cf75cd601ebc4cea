// Tells a story in the terminal and ends by itself, with a folder of its own that is gone afterwards. KEEP=1 keeps it, PACE=0.2 shortens the
// pauses for reading.
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { finish, print } from "../double-invoice/terminal.mjs";
import { killChildren } from "./child.mjs";

// It takes some seconds; nobody should sit through one that hangs.
const patienceMs = 90_000;

export async function tell({ name, load }) {
  const fail = (sentence, error) => {
    finish();
    console.error(`\n${sentence}`);
    if (error !== undefined) console.error(error);
    process.exit(1);
  };
  const pace = Number(process.env.PACE ?? 1);
  if (!(pace >= 0 && pace <= 10)) fail(`PACE is a factor from 0 to 10, not "${process.env.PACE}".`);
  const folder = mkdtempSync(join(tmpdir(), `idem-example-${name}-`));
  const keep = process.env.KEEP === "1";
  process.on("exit", () => {
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, async () => {
      await killChildren();
      print("Stopped; nothing is left running.");
      process.exit(128 + constants.signals[signal]);
    });
  }
  // The reader went away (`npm run … | head`): nobody is left to tell it to.
  process.stdout.on("error", () => process.exit(0));
  const patience = setTimeout(() => fail(`The story did not end within ${patienceMs / 1_000} seconds.`), patienceMs);
  const { tellStory } = await load().catch((error) =>
    fail("Idem is not built here. Run `npm ci` at the root of the repository, then try again.", error),
  );
  await tellStory({ folder, pace }).catch((error) => fail("The story stopped before its end.", error));
  clearTimeout(patience);
  if (keep) print(`  ${folder}  is all that is left of it\n`);
}
