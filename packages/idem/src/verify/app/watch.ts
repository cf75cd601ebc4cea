/**
 * Watches an app that `idem verify --start` started: `NODE_OPTIONS="--import idem/verify/watch"`. The command sets it. In a process that the command did
 * not start it does nothing.
 */
import "../worker/real.ts";
import { isMainThread } from "node:worker_threads";
import { commandLine, environment } from "../../platform/node-thread.ts";
import { type AppSettings, settingsName } from "./control-messages.ts";

const given = environment()[settingsName];
// These start other processes, and are no app's.
const isTool = /[\\/](npm|npx|pnpm|yarn|corepack)(-cli)?(\.[cm]?js)?$/.test(commandLine()[1] ?? "");

if (given !== undefined && isMainThread && !isTool) {
  const { watchApp } = await import("./watch-app.ts");
  await watchApp(JSON.parse(given) as AppSettings);
}
