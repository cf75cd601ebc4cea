// The store's own thread: a disk sync here never holds up the application's event loop.
import { lookAtPath } from "../../platform/look-at-path.ts";
import { nodeThread } from "../../platform/node-thread.ts";
import { fail, SqliteCore } from "./core.ts";
import { loadMigrations } from "./migrations.ts";
import { openingFault } from "./opening-fault.ts";
import type { FromThread, ThreadInput, ToThread } from "./thread-messages.ts";
import { noLeaseList, unpackCall } from "./wire.ts";
import { packAnswer } from "./wire-answers.ts";

const thread = nodeThread<ThreadInput, ToThread, FromThread>();

const leased = noLeaseList();
let core: SqliteCore | null = null;
try {
  const { path, owner, synchronous } = thread.input;
  core = new SqliteCore({
    path,
    owner,
    migrations: loadMigrations(),
    clock: thread.clock,
    ...(synchronous === null ? {} : { synchronous }),
  });
  thread.post({ kind: "open", answer: { ok: true, value: null } });
} catch (error) {
  const { path } = thread.input;
  thread.post({ kind: "open", answer: fail(openingFault(error, path, lookAtPath(path))) });
}

thread.onMessage((message) => {
  if (core === null) return;
  switch (message.kind) {
    case "commit":
      try {
        const calls = message.calls.map((call) => unpackCall(call, leased));
        const answers = core.commit(calls).map((answer, i) => packAnswer(calls[i]!, answer));
        thread.post({ kind: "committed", batch: message.batch, answers });
        core.tend();
      } catch (error) {
        // After a failed sync the pages may be gone from memory too: only a new process may trust the file again.
        core = null;
        thread.post({ kind: "broken", answer: fail(error) });
      }
      return;
    case "read":
      try {
        thread.post({
          kind: "read",
          id: message.id,
          answer: { ok: true, value: core.read(message.name, message.input) },
        });
      } catch (error) {
        thread.post({ kind: "read", id: message.id, answer: fail(error) });
      }
      return;
    case "close":
      core.close();
      core = null;
      thread.post({ kind: "closed" });
      thread.end();
  }
});
