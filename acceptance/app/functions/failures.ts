// Ways to fail.
import { NonRetriableError, RetryAfterError } from "inngest";
import { note, told } from "../say.ts";
import type { AppParts } from "./define.ts";

export function failures({ define }: AppParts): any[] {
  const onFailure = ({ error, event, runId }: any) =>
    note({ fn: "failed", runId }, `${event.data.run_id} ${error.message}`);
  const throws = (error: Error) => () => {
    throw error;
  };
  return [
    define("never", { retries: 5, onFailure }, async (run) => {
      const caught = await told(run, "refuse", throws(new NonRetriableError("no"))).catch((error: Error) => error);
      note(run, `caught ${caught.message}`);
      throw new NonRetriableError("not this way");
    }),
    define("once", { retries: 0, onFailure }, (run) => told(run, "boom", throws(new Error("at once")))),
    define("twice", { retries: 1, onFailure }, throws(new Error("in the code"))),
    define("busy", { retries: 2 }, async (run) => {
      await told(run, "call", () => {
        if (run.attempt === 0) throw new RetryAfterError("busy", "1s");
      });
      if (run.attempt === 0) throw new RetryAfterError("busy again", new Date(Date.now() + 1_000));
      return "free";
    }),
    define("catches", { retries: 1 }, async (run) => {
      const caught = await told(run, "boom", throws(new TypeError("wrong kind"))).catch((error: Error) => error);
      return told(run, "after", () => `${caught.name}: ${caught.message}`);
    }),
  ];
}
