// Deliberate defects in what stands between an engine and a PostgreSQL server: only worlds with such a server can find them.
import { type Defect, model, postgres } from "../defect.ts";

export const postgresDefects: readonly Defect[] = [
  {
    name: "a lease reaches its heartbeat thread only when the event loop has handled a message",
    patches: [
      {
        file: "engine/extend-beside.js",
        from: "names.extendBy(this.beats);",
        to: "this.options.platform.timer(200, () => names.extendBy(this.beats));",
      },
    ],
  },
  {
    name: "a lease of unknown outcome is asked for again",
    patches: [
      {
        file: postgres("transactions"),
        from: "(isUnknown && !isRepeatable)",
        to: "false",
      },
    ],
  },
  {
    name: "a repeat after an unknown commit is answered as a failure",
    patches: [
      {
        file: postgres("transactions"),
        from: "const fault = faultOf(cause);\n",
        to: 'const fault = faultOf(cause);\n                if (fault === "unknown" && isRepeatable)\n                    throw cause;\n',
      },
    ],
  },
  {
    name: "an unknown commit counts as made",
    patches: [
      // Only the answers of the statements before it are known then.
      {
        file: model("store"),
        from: "this.note(session.commitSent, session.isCommitted, calls, error);\n",
        to: `this.note(session.commitSent, session.isCommitted, calls, error);
                if (session.commitSent && calls[0].name === "advance")
                    return calls.map(({ input: [{ steps, seen, next }] }) => ({
                        answer: { kind: "advanced", now: lastNow, seen, outcomes: steps.map(({ outcome }) => outcome), news: [], stamps: null, leased: next.kind === "continue", ingested: null, woken: [], freed: false },
                    }));
`,
      },
      { file: model("store"), from: "const pollMs", to: "let lastNow = 0;\nconst pollMs" },
      {
        file: model("store"),
        from: "            return { answer };",
        to: "            lastNow = answer?.now ?? lastNow;\n            return { answer };",
      },
    ],
  },
  {
    name: "a repeat makes ids of its own",
    patches: [
      {
        file: model("store"),
        from: "const session = transact(this.way, calls);",
        to: `const session = transact(this.way, calls.map((call) => tries === 0 || call.name !== "ingest" ? call : {
                ...call,
                input: [{ ...call.input[0], events: call.input[0].events.map((event) => ({ ...event, id: event.id.slice(0, 25) + (tries % 10) })) }],
            }));
            tries++;`,
      },
      {
        file: model("store"),
        from: "let wasCommitted = false;",
        to: "let wasCommitted = false;\n        let tries = 0;",
      },
    ],
  },
  {
    name: "a call of a batch is answered as the one before it",
    patches: [
      {
        file: postgres("batches"),
        from: "resolve(answers[i]);",
        to: "resolve(answers[Math.max(0, i - 1)]);",
      },
    ],
  },
];
