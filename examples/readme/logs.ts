// The code of docs/logs.md.
import { Idem } from "idem";

export const pages: string[] = [];

// #region log
const idem = new Idem({ id: "shop", logger: console }); // which is what it is unless told; false is silence
// #endregion

// #region listen
const stop = idem.on("run.failed", ({ function: name, runId, error }) => {
  pages.push(`${name} failed in run ${runId}: ${error.message}`);
});

// #endregion

export { idem, stop };
