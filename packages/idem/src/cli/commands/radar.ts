// idem radar: alerts of the duplicate radar, and a person's answer to them.
import { errors } from "../../model/errors.ts";
import { readVerdicts, verdictKind } from "../../observe/published-verdicts.ts";
import { deliveriesOf } from "../../radar/alert-deliveries.ts";
import { alertAsCsv, alertAsMarkdown, noteOfAlert } from "../../radar/alert-note.ts";
import { channelKinds } from "../../radar/channels.ts";
import { type AlertFacts, wordsOf } from "../../radar/found-alert.ts";
import { rollbackDetails, rollbackPairs } from "../../radar/store-rollback.ts";
import { verifyPair } from "../../radar/verify-pair.ts";
import { type Alert, type AlertVerdict, alertStates } from "../../store/alerts.ts";
import { rollbackKind } from "../../store/history.ts";
import { type Command, type Context, countOption, durationOption, type Reading, serverOptions } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";
import { greetOwner, silentFor } from "../greet-owner.ts";
import { printable } from "../printable.ts";
import { changeChannels, listChannels } from "../radar-channels.ts";
import { table } from "../table.ts";
import { when } from "../times.ts";

const pairsShown = 5;

export const radar: Command = {
  name: "radar",
  summary: "list what ran twice and other alerts, show one with its pairs, or answer it",
  usage:
    "[--all] | <alert> [--acknowledge | --mute <7d> | --close] [--reason <text>] | <alert> --export <md> | [--limit <50>] | --channels | channel <add> <name> …",
  words: { min: 0, max: 3 },
  options: {
    all: { help: "muted and closed ones too" },
    acknowledge: { help: "somebody knows of it; more pairs still join it" },
    mute: { value: "7d", help: "count and tell nobody, for this long" },
    close: { help: "it is done with; the next pair opens another" },
    reason: { value: "text", help: "why; kept with the alert and in the store's audit" },
    export: {
      value: "md",
      choices: ["md", "csv"],
      help: "every pair with what both runs' steps gave, on standard output",
    },
    limit: { value: "50", help: "how many alerts or pairs, up to 1000" },
    channels: { help: "list where alerts go instead" },
    kind: { value: "slack", choices: [...channelKinds], help: `channel add: ${channelKinds.join(", ")}` },
    "url-env": { value: "VAR", help: "channel add: the environment variable that has the address" },
    "url-stdin": { help: "channel add: read the address from standard input" },
    from: { value: "address", help: "channel add, e-mail: from whom" },
    to: { value: "address", isMany: true, help: "channel add, e-mail: to whom; may be repeated" },
    ...serverOptions,
  },
  details: [
    "A process that executes looks every second; an alert is there within five. `idem doctor` looks at days that are past.",
    "Exits with 1 when the list has an open alert.",
    "`channel add`, `remove` and `test` say where alerts go: a signed webhook, Slack or what understands it, e-mail, the log.",
  ],
  examples: [
    "idem radar",
    "idem radar 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    'idem radar 01JZZ4Q8X5T2M7N0B6E3R9V1KD --mute 7d --reason "the key is deployed on Monday"',
    "idem radar 01JZZ4Q8X5T2M7N0B6E3R9V1KD --export md > monday.md",
    "idem radar channel add ops --kind slack --url-env SLACK_URL",
    "idem radar channel add finance --kind email --url-env SMTP_URL --from radar@example.com --to ada@example.com",
    "idem radar channel test ops",
  ],
  async run(context) {
    const [id, action, name] = context.words;
    if (id === "channel") return changeChannels(context, action, name);
    if (action !== undefined) throw usage("Say one alert, or idem radar channel add | remove | test <name>.");
    if (context.flags.has("channels")) return listChannels(context);
    const verdict = verdictOf(context);
    if (id === undefined) {
      if (verdict !== null || context.options.export !== undefined)
        throw usage("Say which alert: idem radar <alert> ….");
      return list(context);
    }
    if (verdict !== null) return judge(context, id, verdict);
    return context.options.export === undefined ? show(context, id) : exportOne(context, id);
  },
};

function verdictOf({ flags, options }: Context): AlertVerdict | null {
  const said: AlertVerdict[] = [];
  if (flags.has("acknowledge")) said.push("acknowledge");
  if (options.mute !== undefined) said.push("mute");
  if (flags.has("close")) said.push("close");
  if (said.length > 1) throw usage(`Say one of --acknowledge, --mute and --close, not ${said.length} of them.`);
  return said[0] ?? null;
}

async function judge(context: Context, id: string, verdict: AlertVerdict): Promise<number> {
  const { reason } = context.options;
  if (reason === undefined || reason.trim() === "") throw usage(`Say why: --reason "…". It is kept with the alert.`);
  const until = verdict === "mute" ? context.now() + durationOption(context, "mute", 0) : null;
  const answer = await context.write((ask) => ask("judge", context.env, { id, verdict, until, note: reason }));
  if (answer.kind === "unknown") throw errors.ALERT_UNKNOWN({ alert: id });
  if (answer.kind === "closed") throw errors.ALERT_CLOSED({ alert: id });
  const { alert } = answer;
  if (context.isJson) context.json(shown(alert, alert.fn));
  else if (alert.state !== "muted") context.say(`alert ${alert.id} is ${alert.state}`);
  else context.say(`alert ${alert.id} is muted until ${when(alert.mutedUntil, context.now())}; its pairs are counted`);
  return exitCodes.ok;
}

const shown = ({ facts, ...alert }: Alert, name: string) => {
  const read = JSON.parse(facts) as AlertFacts;
  return { ...alert, facts: read, ...wordsOf({ ...alert, facts: read }, name) };
};

const nameIn = (reading: Reading, fn: string): string => (fn === "" ? "" : reading.nameOf(fn));

async function find({ reads, env }: Reading, id: string): Promise<Alert> {
  const alert = await reads.alert(env, id);
  if (alert === null) throw errors.ALERT_UNKNOWN({ alert: id });
  return alert;
}

const list = (context: Context): Promise<number> =>
  context.read(async (reading) => {
    const limit = countOption(context, "limit", 50, 1_000);
    const { reads, env } = reading;
    const states = context.flags.has("all") ? alertStates : (["open", "acknowledged"] as const);
    const pages = await Promise.all(states.map((state) => reads.alerts(env, { state, limit })));
    const alerts = pages
      .flatMap((page) => page.map((alert) => shown(alert, nameIn(reading, alert.fn))))
      .slice(0, limit);
    const isOpen = alerts.some(({ state }) => state === "open");
    // It is the owner that looks: while it is silent, an empty list says nothing.
    if (reading.place.kind === "file") {
      const owner = await greetOwner(context.io, reading.place.path, env);
      if (owner.kind === "reached") owner.close();
      if (owner.kind === "silent") {
        context.remark(`The process that has the store does not answer ${silentFor}: nobody looks at what comes.`);
      }
    }
    const code = isOpen ? exitCodes.failed : exitCodes.ok;
    if (context.isJson) {
      context.json(alerts);
      return code;
    }
    if (alerts.length === 0) {
      context.remark("Nothing to look at: no alert is open. `idem radar --all` has those that were.");
      return code;
    }
    const { io, paint } = context;
    const now = context.now();
    io.out.write(
      table(
        [
          { title: "ALERT" },
          { title: "STATE" },
          { title: "PAIRS", align: "right" },
          { title: "WHAT", shrinks: true },
          { title: "LAST", shrinks: true, drops: true },
        ],
        alerts.map(({ id, state, pairCount, title, lastAt }) => [
          id,
          state === "open" ? paint.red(state) : state,
          String(pairCount),
          printable(title),
          when(lastAt, now),
        ]),
        { columns: io.out.columns, bold: paint.bold },
      ),
    );
    return code;
  });

const show = (context: Context, id: string): Promise<number> =>
  context.read(async (reading) => {
    const kept = await find(reading, id);
    const alert = shown(kept, nameIn(reading, kept.fn));
    const limit = countOption(context, "limit", context.isJson ? 50 : pairsShown, 1_000);
    const pairs = await reading.reads.alertPairs(reading.env, id, { limit });
    const deliveries = await deliveriesOf(reading.reads, reading.env, kept);
    const verdict = readVerdicts(await reading.reads.settings(reading.env, verdictKind)).get(kept.fn);
    const of = {
      name: nameIn(reading, kept.fn),
      module: verdict?.place?.file ?? null,
      // An address may hold a password.
      store: reading.place.kind === "file" ? `sqlite:${reading.place.path}` : null,
    };
    const played = pairs.map((pair) => ({ ...pair, verify: verifyPair(kept, pair, of) }));
    if (context.isJson) {
      context.json({ ...alert, pairs: played, deliveries });
      return exitCodes.ok;
    }
    const now = context.now();
    context.say(`${context.paint.bold(printable(alert.title))}`);
    context.say(`  ${alert.state}, first ${when(alert.firstAt, now)}, last ${when(alert.lastAt, now)}`);
    if (alert.judgedBy !== null) {
      context.say(`  ${printable(alert.judgedBy)} ${when(alert.judgedAt, now)}: ${printable(alert.note ?? "")}`);
    }
    const differs = alert.facts.differs ?? [];
    if (differs.length > 0) context.say(`  their data differed at ${printable(differs.join(", "))}`);
    if (alert.kind === rollbackKind) {
      const all = await rollbackPairs(reading.reads, reading.env, id);
      for (const line of rollbackDetails(all)) context.say(`  ${printable(line)}`);
    } else {
      for (const { entity, firstId, laterId } of pairs) {
        context.say(`  ${printable(entity)}: ${firstId === null ? "" : `${firstId}, then `}${laterId}`);
      }
    }
    if (alert.kind !== rollbackKind && alert.pairCount > pairs.length)
      context.say(`  and ${alert.pairCount - pairs.length} more`);
    for (const { words } of deliveries) context.say(`  ${printable(words)}`);
    context.say(`  ${context.paint.green("→")} ${printable(alert.next)}`);
    const command = played.find(({ verify }) => verify !== null)?.verify ?? null;
    if (command !== null) {
      context.say(`  ${context.paint.green("→")} See it happen, and hold once it is mended: ${printable(command)}`);
    }
    return exitCodes.ok;
  });

const exportOne = (context: Context, id: string): Promise<number> =>
  context.read(async (reading) => {
    const format = context.options.export;
    if (format !== "md" && format !== "csv")
      throw usage(`--export is "${printable(format ?? "")}"; it must be md or csv.`);
    const alert = await find(reading, id);
    const note = await noteOfAlert(reading, reading.env, alert, nameIn(reading, alert.fn));
    context.io.out.write(format === "md" ? alertAsMarkdown(note) : alertAsCsv(note));
    return exitCodes.ok;
  });
