// One DBOS process: starts, executes and waits for its own workflows. The workflow's id is its key, as its guide to idempotency says;
// the pool stays at its default of 10 sessions, connected directly, as its production checklist has it. Nothing else is configured.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { packageVersion } from "../machine.ts";
import { shuffled } from "../measure.ts";
import { serveLoad } from "../postgres/load.ts";

async function workflow({ n }: { n: number }): Promise<{ n: number; c: number }> {
  const a = await DBOS.runStep(async () => 1, { name: "a" });
  const b = await DBOS.runStep(async () => a + 1, { name: "b" });
  const c = await DBOS.runStep(async () => b + 1, { name: "c" });
  return { n, c };
}
const threeSteps = DBOS.registerWorkflow(workflow, { name: "threeSteps" });

const [systemDatabaseUrl, first] = process.argv.slice(2);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: systemDatabaseUrl!, logLevel: "error" });
await DBOS.launch();

await serveLoad(
  {
    versions: `DBOS ${packageVersion("bench/node_modules/@dbos-inc/dbos-sdk")}, pg ${packageVersion("bench/node_modules/pg")}, Node ${process.version}`,
    oneRun: async (n) => {
      const key = shuffled(n);
      const handle = await DBOS.startWorkflow(threeSteps, { workflowID: String(key) })({ n: key });
      return handle.getResult();
    },
    close: () => DBOS.shutdown(),
  },
  Number(first),
);
