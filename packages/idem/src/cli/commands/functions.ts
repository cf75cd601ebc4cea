// idem functions: the functions registered in the store.

import { flowText } from "../../flow/words.ts";
import { type FunctionConfig, type KeyConfig, whyNoKey } from "../../model/function-config.ts";
import { shownApp } from "../../model/function-names.ts";
import { lengthText } from "../../model/length-text.ts";
import { countPending, pendingCount } from "../../observe/pending-counts.ts";
import { readVerdicts, verdictKind, verifiedCode } from "../../observe/published-verdicts.ts";
import { type Command, serverOptions } from "../command.ts";
import type { Paint } from "../paint.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { verdictWords } from "../verdict-words.ts";

export const functions: Command = {
  name: "functions",
  summary: "list the functions registered in the store, with triggers, keys and limits",
  usage: "[--keys | --check]",
  words: { min: 0, max: 0 },
  options: {
    ...serverOptions,
    keys: { help: "for a reviewer: only the keys and the last verdicts, those without a key first" },
    check: { help: "exit with 1 where a key is missing and no reason is given for it" },
  },
  details: [
    "LAST VERDICT is what `idem verify --publish` said, and for which code: UNPROVEN and `never verified` say nothing good.",
    "PENDING counts events that wait to be decided; `idem events --pending` lists them. A function without a key says why, if it was",
    'given `idempotency: { none: "…" }`. What comes once by itself needs none: ticks, invokes, events gathered in batches.',
  ],
  examples: [
    "idem functions",
    "idem functions --keys",
    "idem functions --check",
    "idem functions --env staging --json",
  ],
  async run(context) {
    return context.read(async ({ reads, nameOf }) => {
      const { functions: registered } = await reads.functions(context.env);
      const { dueByFunction } = await reads.counts(context.env);
      const pending = await countPending(reads, context.env);
      const verdicts = readVerdicts(await reads.settings(context.env, verdictKind));
      const now = context.now();
      const list = registered.map(({ config, ...rest }) => ({
        ...rest,
        config: JSON.parse(config) as FunctionConfig,
        dueCount: dueByFunction[rest.fn] ?? 0,
        pending: pending(rest.fn),
      }));
      const keyless = context.flags.has("check") ? list.filter(({ config }) => keyText(config) === missing) : [];
      if (context.isJson) {
        context.json(
          list.map((each) => {
            const verdict = verdicts.get(each.fn);
            const codeSince = verdict && verifiedCode(verdict, each.config.fingerprint);
            return { ...each, verdict: verdict === undefined ? null : { ...verdict, codeSince } };
          }),
        );
        return keyless.length === 0 ? 0 : 1;
      }
      if (list.length === 0) {
        context.remark(`No functions are registered in environment "${context.env}".`);
        return 0;
      }
      const { io, paint } = context;
      if (context.flags.has("keys") || context.flags.has("check")) {
        io.out.write(
          table(
            [
              { title: "FUNCTION" },
              { title: "KEY", shrinks: true, paint: (cell) => (cell === missing ? paint.yellow(cell) : cell) },
              { title: "WINDOW" },
              { title: "WHEN IT FAILS" },
              { title: "WHEN MISSING" },
              { title: "LAST VERDICT", shrinks: true, paint: (cell) => paintVerdict(cell, paint) },
            ],
            list
              .toSorted((a, b) => reviewOrder(a.config) - reviewOrder(b.config))
              .map(({ fn, id, config }) => [
                printable(id),
                printable(keyText(config)),
                windowText(config.idempotency),
                config.idempotency?.afterFailure ?? "–",
                config.idempotency?.onMissing ?? "–",
                printable(verdictWords(verdicts.get(fn), config, { now, nameOf })),
              ]),
            { columns: io.out.columns, bold: paint.bold },
          ),
        );
        if (keyless.length === 0) return 0;
        const names = keyless.map(({ id }) => printable(id)).join(", ");
        context.remark(
          `Without a key: ${names}. Give each idempotency: "event.data.…", or the reason for none: idempotency: { none: "…" }.`,
        );
        return 1;
      }
      io.out.write(
        table(
          [
            { title: "FUNCTION" },
            { title: "APP" },
            { title: "TRIGGERS", shrinks: true },
            { title: "KEY", shrinks: true, paint: (cell) => (cell === missing ? paint.yellow(cell) : cell) },
            { title: "WINDOW" },
            { title: "LIMITS", shrinks: true },
            { title: "RETRIES", align: "right" },
            { title: "DUE", align: "right" },
            { title: "PENDING", align: "right" },
            {
              title: "LAST VERDICT",
              shrinks: true,
              drops: true,
              paint: (cell) => paintVerdict(cell, paint),
            },
            { title: "" },
          ],
          list.map(({ fn, id, app, config, pausedAt, dueCount, pending: waiting }) => [
            printable(id),
            printable(shownApp({ app, config })),
            printable(
              config.triggers.map((trigger) => ("event" in trigger ? trigger.event : trigger.cron)).join(", "),
            ) || "–",
            printable(keyText(config)),
            windowText(config.idempotency),
            printable(flowText(config)),
            String(config.retries),
            String(dueCount),
            `${pendingCount(waiting)}${waiting.isAll ? "" : "+"}`,
            printable(verdictWords(verdicts.get(fn), config, { now, nameOf })),
            pausedAt === null ? "" : "paused",
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      return 0;
    });
  },
};

const missing = "none";

/** Only what held, for the code that is there, is quiet. */
function paintVerdict(words: string, paint: Paint): string {
  if (/^(DOUBLED|LOST|HALF|DIVERGED)/.test(words)) return paint.red(words);
  return /^(HELD|ACCEPTED)(?!.*(changed|nobody))|^with /.test(words) ? words : paint.yellow(words);
}

function keyText(config: FunctionConfig): string {
  const why = whyNoKey(config);
  return config.idempotency?.key ?? (why === null ? missing : `none: ${why}`);
}

const windowText = (key: KeyConfig | null): string =>
  key === null ? "–" : `${lengthText(key.windowMs)}${key.untilFinished ? ", until finished" : ""}`;

/** Those that ask for a look first: nobody said anything, then a reason, then a key. */
const reviewOrder = (config: FunctionConfig): number =>
  config.idempotency !== null ? 2 : whyNoKey(config) === null ? 0 : 1;
