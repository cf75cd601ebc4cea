// docs/radar.md
import { Idem } from "idem";

const idem = new Idem({ id: "shop" });
declare function post(text: string): Promise<void>;

// #region tell
idem.createFunction({ id: "tell-finance" }, { event: "idem/duplicate.detected" }, async ({ event, step }) => {
  const { function: fn, entity, firstId, laterId, line } = event.data;
  await step.run("post", () => post(`${fn} ran twice for ${entity}: ${firstId}, ${laterId}. ${line ?? ""}`));
});
// #endregion
