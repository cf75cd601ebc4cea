// A function that runs every minute.
import { note, told } from "../say.ts";
import type { AppParts } from "./define.ts";

export function ticks({ define }: AppParts): any[] {
  return [
    define("ticks", { triggers: [{ cron: "* * * * *" }] }, async (run) => {
      const { name, data } = run.event;
      await told(run, "tick", () => note(run, `${name} ${data.cron} ${new Date(data.scheduledAt).toISOString()}`));
      return run.events.length;
    }),
  ];
}
