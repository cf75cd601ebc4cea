// idem audit: who did what to which thing, when and why.
import { findAudit } from "../../observe/find-audit.ts";
import { type Command, countOption, serverOptions } from "../command.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { iso } from "../times.ts";

// Words no index finds: a few seconds of looking at most.
const examinedMax = 100_000;

export const audit: Command = {
  name: "audit",
  summary: "list what people did by hand: who, what, to which thing, when and why",
  usage: "[--actor <who>] [--action <what>] [--subject <thing>] [--text <words>] [--limit <50>] [--before <id>]",
  words: { min: 0, max: 0 },
  options: {
    actor: { value: "who", help: "only what they did, by their whole name" },
    action: { value: "what", help: "only this: cancel-run, release-key, …" },
    subject: { value: "thing", help: "only what was done to it, by its whole name" },
    text: { value: "words", help: "only entries with these words in any of the four" },
    limit: { value: "50", help: "how many, up to 500" },
    before: { value: "id", help: "only what is older than this entry; --json shows ids" },
    ...serverOptions,
  },
  details: [
    "Newest first. WHO is a session of the dashboard, the signing key or password a tool showed, or a command line and its host.",
    'Signing in is of no environment: it stands in that of "default".',
  ],
  examples: ["idem audit", "idem audit --action release-key --text invoice", "idem audit --limit 500 --json"],
  async run(context) {
    const limit = countOption(context, "limit", 50, 500);
    const { before, actor, action, subject, text } = context.options;
    const asked = Object.entries({ before, actor, action, subject, text }).filter(([, value]) => value !== undefined);
    return context.read(async ({ reads }) => {
      const search = { limit, ...Object.fromEntries(asked) };
      const page = await findAudit(reads, context.env, search, examinedMax);
      if (context.isJson) {
        context.json(page.rows);
        return 0;
      }
      if (page.rows.length === 0) {
        context.remark(asked.length === 0 ? "Nobody did anything by hand yet." : "No entry matches.");
        return 0;
      }
      const { io, paint } = context;
      io.out.write(
        table(
          [
            { title: "TIME" },
            { title: "WHO", shrinks: true },
            { title: "DID" },
            { title: "TO", shrinks: true },
            { title: "WHY", shrinks: true, drops: true },
          ],
          page.rows.map(({ at, actor, action, subject, reason }) => [
            iso(at),
            actor === "" ? "–" : printable(actor),
            action,
            printable(subject),
            printable(reason),
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      if (page.next !== null) context.remark("There may be more: --limit and --before show what is older.");
      return 0;
    });
  },
};
