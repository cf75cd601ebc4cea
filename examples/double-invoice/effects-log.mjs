// What the outside world saw: a line per effect, appended by whichever process caused it. A line that was written stays,
// whatever happens to the process, so the log can testify after a SIGKILL.
//
//   entered  the step's code began        created  something new exists out there
//   left     the step's code is through   found    it existed already, made under the same destination key
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export function effectsLog(path) {
  return {
    write(what, step, placementId) {
      appendFileSync(path, `${what} ${step} ${placementId}\n`);
    },
    read() {
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
    },
  };
}

/** "create-stripe-draft 1042" for each line that says the step did so. */
export const stepsThat = (did, effects) =>
  effects.filter((line) => line.startsWith(`${did} `)).map((line) => line.slice(did.length + 1));
