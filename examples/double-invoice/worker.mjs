// The worker of act 3, a process of its own: goes on with whatever is unfinished in the store, and ends when all is done.
// Its parent kills the first one and starts a second; nothing here knows which of the two it is.
import { createServer } from "node:http";
import { Idem } from "idem";
import { asListener } from "idem/node";
import { draftInvoice } from "./draft-invoice.mjs";
import { outsideWorld } from "./outside-world.mjs";
import { quiet } from "./quiet.mjs";

const { worldFolder, store, options, latencyMs } = JSON.parse(process.argv[2]);

// Without its parent the story is over: no process stays behind.
process.on("disconnect", () => process.exit(1));
// Ctrl-C reaches every process of the terminal; what becomes of this one is its parent's affair.
process.on("SIGINT", () => {});

// Four at a time, so that there is a middle to be killed in.
const idem = new Idem({ id: "agency", store, runsInFlight: 4, logger: quiet });
draftInvoice(idem, options, outsideWorld(worldFolder, { latencyMs }));
const pages = createServer(asListener(idem.dashboard({ base: "/act-3", dev: true })));
pages.listen(0, "127.0.0.1", () => process.send({ port: pages.address().port }));
await idem.start();
const runs = await idem.runs.list({ limit: 1_000 });
await Promise.all(runs.map((run) => idem.runs.wait(run.id)));
await idem.stop();
process.exit(0);
