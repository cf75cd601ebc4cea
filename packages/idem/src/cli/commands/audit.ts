// idem audit: who did what to which thing, when and why.
import { type Command, storeOptions } from "../command.ts";
import { countOption } from "../options.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { iso } from "../times.ts";

export const audit: Command = {
  name: "audit",
  summary: "list what people did by hand: who, what, to which thing, when and why",
  usage: "[--limit <50>] [--before <id>]",
  words: { min: 0, max: 0 },
  options: {
    limit: { value: "50", help: "how many, up to 500" },
    before: { value: "id", help: "only what is older than this entry; --json shows ids" },
    ...storeOptions,
  },
  details: [
    "Newest first. WHO is a session of the dashboard, the signing key or password a tool showed, or a command line and its host.",
    'Signing in is of no environment: it stands in that of "default".',
  ],
  examples: ["idem audit", "idem audit --limit 500 --json"],
  async run(context) {
    const limit = countOption(context, "limit", 50, 500);
    const { before } = context.options;
    return context.read(async ({ reads }) => {
      const page = await reads.auditPage(context.env, before === undefined ? { limit } : { limit, before });
      if (context.isJson) {
        context.json(page.rows);
        return 0;
      }
      if (page.rows.length === 0) {
        context.remark("Nobody did anything by hand yet.");
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
