// Deliberate defects in the batches of the PostgreSQL store. The simulator's PostgreSQL executes none of that SQL: the differential on a real server must
// find them (packages/idem/src/store/postgres/batches-equal-operations.test.ts). `npm run proof -- mutants` plants them one at a time.
//
// The last five are differences that the differential found when it was written.
import { type Defect, postgres } from "../defect.ts";

/** What was found to be taken is looked at again when it is read. */
const believesTaken = {
  file: postgres("claim-key"),
  from: "!askFor(tx.at, claim, ask, state).taken",
  to: "true",
} as const;

export const batchDefects: readonly Defect[] = [
  {
    name: "a batch ends runs without comparing the fence",
    patches: [
      {
        file: postgres("end-runs"),
        from: "j.id = quiet.id and j.fence = quiet.fence",
        to: "j.id = quiet.id and quiet.fence is not null",
      },
    ],
  },
  {
    name: "a batch ends runs and leaves their waits",
    patches: [
      { file: postgres("end-runs"), from: `waited as (\${forgottenSql("waits")})`, to: "waited as (select 1)" },
    ],
  },
  {
    name: "a batch ends runs and leaves the rules that cancel them",
    patches: [
      {
        file: postgres("end-runs"),
        from: `cancelling as (\${forgottenSql("cancels")})`,
        to: "cancelling as (select 1)",
      },
    ],
  },
  {
    name: "a batch ends a run that holds its key and does not settle the claim",
    patches: [
      {
        file: postgres("end-runs"),
        from: "r.ended_state is null and r.holds_key = 0",
        to: "r.ended_state is null",
      },
    ],
  },
  {
    name: "a batch ends a run that others wait for and wakes nobody",
    patches: [{ file: postgres("end-runs"), from: "readNowSql, `r.awaited = 0 and", to: "readNowSql, `" }],
  },
  {
    name: "a batch does not count ended runs",
    patches: [
      {
        file: postgres("end-runs"),
        from: "from ended group by env, fn, ended_at)",
        to: "from ended where false group by env, fn, ended_at)",
      },
    ],
  },
  {
    name: "a batch ends a run whose event somebody waits for and does not store it",
    patches: [{ file: postgres("end-runs"), from: `and \${isUnheard("name_1", "bucket_1")}`, to: "" }],
  },
  {
    name: "a batch saves steps without comparing the fence",
    patches: [
      {
        file: postgres("save-steps"),
        from: "j.id = given.job_id and j.fence = given.fence",
        to: "j.id = given.job_id and given.fence is not null",
      },
    ],
  },
  {
    name: "a batch saves a step and does not forget the lost worker",
    patches: [{ file: postgres("save-steps"), from: "\n         and j.lost_workers = 0", to: "" }],
  },
  {
    name: "a batch suspends a run that has news",
    patches: [{ file: postgres("suspend-runs"), from: " or (s.worker is null and s.stamp > given.seen)", to: "" }],
  },
  {
    name: "a batch suspends a run past the timeout of its wait",
    patches: [
      { file: postgres("suspend-runs"), from: "least(quiet.due_at, quiet.timeout_at,", to: "least(quiet.due_at," },
    ],
  },
  {
    name: "a batch opens a child and does not note that a run waits for it",
    patches: [{ file: postgres("invoke-runs"), from: "set awaited = 1 where", to: "set awaited = awaited where" }],
  },
  {
    name: "a batch records the outcome of a wait and does not wake its run",
    patches: [{ file: postgres("end-waits"), from: "endWaitsOf(tx, given, true)", to: "endWaitsOf(tx, given)" }],
  },
  {
    name: "a batch wakes a run that is parked",
    patches: [{ file: postgres("end-waits"), from: " and j.parked_at is null", to: "" }],
  },
  {
    name: "of two events for one wait the last one ends it",
    patches: [
      {
        file: postgres("resume-runs"),
        from: "if (!ended.has(name))\n",
        to: "\n",
      },
    ],
  },
  {
    name: "a batch ends a delivery without comparing the fence",
    patches: [{ file: postgres("resume-runs"), from: " and j.fence = given.fence for update", to: " for update" }],
  },
  {
    name: "a batch stores events of a stale registration",
    patches: [{ file: postgres("ingest-batch"), from: "inputs.filter(isCurrent)", to: "inputs" }],
  },
  {
    name: "a batch stores an event before the rule it may match",
    patches: [
      { file: postgres("ingest-batch"), from: ".filter(({ name }) => !cancelling.has(inEnv(env, name)))", to: "" },
    ],
  },
  {
    name: "a batch does not count the runs that it starts itself",
    patches: [
      {
        file: postgres("lane-slots"),
        from: "uses.set(slot, uses.get(slot) + 1);",
        to: "uses.set(slot, uses.get(slot));",
      },
    ],
  },
  {
    name: "a batch ends one run twice, with one of the results",
    patches: [
      {
        file: postgres("end-runs"),
        from: "inJobOrder(inputs.map((input, n) => ({ input, n, end: input.next })))",
        to: "inputs.map((input, n) => ({ input, n, end: input.next }))",
      },
    ],
  },
  {
    name: "a batch counts the log lines of one run once",
    patches: [
      {
        file: postgres("save-steps"),
        from: "cast(sum(bytes) as bigint) as bytes",
        to: "max(bytes) as bytes",
      },
    ],
  },
  {
    name: "a batch counts the log lines that a run has already",
    patches: [
      {
        file: postgres("end-runs"),
        from: "or exists (select 1 from run_logs l where l.env",
        to: "or exists (select 1 from run_logs l where false and l.env",
      },
    ],
  },
  {
    name: "a batch opens a child for an event with its sender's id",
    patches: [{ file: postgres("invoke-runs"), from: " && event.callerId === null", to: "" }],
  },
  {
    name: "a batch takes a released key for a duplicate",
    patches: [{ file: postgres("claim-key"), from: " and c.state <> 'released'", to: "" }, believesTaken],
  },
  {
    name: "a batch takes a key whose window is over for a duplicate",
    patches: [
      { file: postgres("claim-key"), from: "c.ends_at > greatest(cast(:now as bigint), c.taken_at)", to: "true" },
      believesTaken,
    ],
  },
  {
    name: "a batch counts one of its duplicates",
    patches: [{ file: postgres("claim-key"), from: "known.uncounted++;", to: "known.uncounted = 1;" }],
  },
  {
    name: "a batch answers for a key of a batched run with its first event",
    patches: [
      {
        file: postgres("kept-answers"),
        from: 'coalesce(carried.event_id, run.event_id) as "firstEventId"',
        to: 'run.event_id as "firstEventId"',
      },
    ],
  },
  {
    name: "what was read ahead of a batch outlives the run that it was about",
    patches: [{ file: postgres("rule-transaction"), from: "each.clear();", to: "void each;" }],
  },
];
