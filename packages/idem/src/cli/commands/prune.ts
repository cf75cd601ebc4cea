// idem prune: history that nobody will ask for again, deleted a few hundred rows at a time.
import { limits } from "../../engine/limits.ts";
import { parseDuration } from "../../model/duration.ts";
import { type PruneCounts, type PrunedPage, prunedNothing } from "../../store/prune.ts";
import { type Command, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { showProgress } from "../progress.ts";
import { iso } from "../times.ts";
import { untilEnded } from "../until-ended.ts";

export const prune: Command = {
  name: "prune",
  summary: "delete old events with their ended runs, steps and decisions",
  usage: "--older-than <30d> [--dry-run]",
  words: { min: 0, max: 0 },
  options: {
    "older-than": { value: "30d", help: "events received and runs ended longer ago than this" },
    "dry-run": { help: "only count what would go" },
    ...serverOptions,
  },
  details: [
    "Open runs, open windows and events held for a person are never touched. At most 500 rows go in one commit, so a living",
    "owner keeps working meanwhile. What people did by hand (idem audit) goes once it is as old, and a year old at least. A file does not shrink; its space is used again.",
  ],
  examples: ["idem prune --older-than 30d --dry-run", "idem prune --older-than 90d"],
  async run(context) {
    const age = context.options["older-than"];
    if (age === undefined) throw usage("Say how old: --older-than 30d.");
    const before = context.now() - parseDuration(age, "--older-than", limits.retentionMsMax);
    const auditBefore = Math.min(before, context.now() - limits.auditKeptMsMin);
    const isDry = context.flags.has("dry-run");
    const total = { ...prunedNothing };
    let kept = 0;
    const progress = showProgress(context.io, isDry ? "counted rows" : "deleted rows");
    const collect = async (next: (after: string) => Promise<PrunedPage>) => {
      for (let after: string | null = ""; after !== null; ) {
        const answer = await next(after);
        for (const name of Object.keys(total) as (keyof PruneCounts)[]) total[name] += answer.deleted[name];
        kept += answer.kept;
        after = answer.after;
        progress.update(sum(total), null);
      }
    };
    try {
      const server = isDry ? await context.server() : null;
      if (server !== null) {
        const asked = { olderThanMs: context.now() - before };
        const { deleted, kept } = await untilEnded(context, server, "POST /api/prune/count", asked, "Old history");
        await collect(async () => ({ deleted, kept, after: null }));
      } else if (isDry) {
        await context.read(({ rows }) =>
          collect((after) => rows.countPrunable({ env: context.env, before, after, auditBefore }, context.now())),
        );
      } else {
        await context.write((ask) => collect((after) => ask("prune", context.env, { before, after, auditBefore })));
      }
    } finally {
      progress.end();
    }
    if (context.isJson) context.json({ before, isDryRun: isDry, deleted: total, kept });
    else {
      const { events, runs, steps, attempts, decisions, audit, alerts } = total;
      context.say(
        `${isDry ? "would delete" : "deleted"} ${events} events, ${runs} runs, ${steps} steps, ${attempts} attempts and ${decisions} decisions from before ${iso(before)}`,
      );
      if (alerts > 0) context.say(`${isDry ? "would delete" : "deleted"} ${alerts} closed alerts with their pairs`);
      if (audit > 0)
        context.say(
          `${isDry ? "would delete" : "deleted"} ${audit} entries of the audit from before ${iso(auditBefore)}`,
        );
      if (kept > 0)
        context.say(
          `kept ${kept} older events that are still needed: a run that is open or ended since, an open window, or held for a person`,
        );
    }
    return 0;
  },
};

const sum = (counts: PruneCounts): number => Object.values(counts).reduce((all, count) => all + count, 0);
