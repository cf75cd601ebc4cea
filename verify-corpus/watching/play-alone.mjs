// One program in a process of its own, whose output is nothing but what was found.
import { nodePlatform } from "../../node_modules/idem/modules/platform/node-platform.js";
import { PlayingThreads } from "../../node_modules/idem/modules/verify/playing-threads.js";
import { verifyFunction } from "../../node_modules/idem/modules/verify/verify-function.js";

const modules = process.argv.slice(2);
const threads = new PlayingThreads({ platform: nodePlatform, loader: null, size: 1, answerMsMax: 60_000 });
const [fn] = await threads.describe(modules);
const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3", email: "a@b.example" } };
const plain = { threads, platform: nodePlatform, modules, fn, endHandlers: [], event, budgetMs: 0, mends: false };
const { verdict, findings } = await verifyFunction({ ...plain, only: [] });
await threads.close();
console.log(JSON.stringify({ verdict, findings }));
