// One Idem process: sends, executes and waits for its own runs, as an application with the embedded engine does.
// The run of every comparison here: an event with a caller's id and a function key, three saved steps, a result.
import { Idem } from "../engine.ts";
import { packageVersion } from "../machine.ts";
import { shuffled } from "../measure.ts";
import { defineThreeSteps } from "../world.ts";
import { serveLoad } from "./load.ts";

const [store, first] = process.argv.slice(2);
const idem = new Idem({ id: "bench", store: store! });
defineThreeSteps(idem, { idempotency: "event.data.n" });
await idem.start();

await serveLoad(
  {
    versions: `Idem ${packageVersion("packages/idem")}, pg ${packageVersion("node_modules/pg")}, Node ${process.version}`,
    oneRun: async (n) => {
      const key = shuffled(n);
      const { decisions } = await idem.send({ name: "bench/run", id: String(key), data: { n: key } });
      return (await idem.runs.wait(decisions[0]!.runId!)).output;
    },
    close: () => idem.stop(),
  },
  Number(first),
);
