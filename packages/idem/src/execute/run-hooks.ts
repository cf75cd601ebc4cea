// Middleware around one run: its steps, and how it ended. Made only where there is some.
import { fromJson } from "../model/json.ts";
import type { Code, Logger, RunInfo } from "./function-code.ts";
import type { PassOptions } from "./pass-options.ts";

export type RunOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

export class RunHooks {
  private made: RunInfo | null = null;

  constructor(
    private readonly code: Code,
    /** `attempt`: of the code between steps, known once it is entered. */
    private readonly run: { readonly runId: string; readonly attempt: number },
    private readonly logger: Logger,
  ) {}

  private get info(): RunInfo {
    const { runId, attempt } = this.run;
    this.made ??= { runId, function: this.code.config.id, attempt };
    return this.made;
  }

  readonly aroundStep: NonNullable<PassOptions["around"]> = async (op, body) => {
    const { info } = this;
    const { middleware: all } = this.code;
    const step = { id: op.name, attempt: op.attempt };
    for (const middleware of all) await middleware.beforeStep?.(info, step);
    const ran = await body().catch(async (error) => {
      for (const middleware of all) await middleware.afterStep?.(info, step, { ok: false, error });
      throw error;
    });
    for (const middleware of all) await middleware.afterStep?.(info, step, { ok: true, value: fromJson(ran.json) });
    return ran;
  };

  async afterRun(outcome: RunOutcome): Promise<void> {
    for (const middleware of this.code.middleware) {
      try {
        await middleware.afterRun?.(this.info, outcome);
      } catch (error) {
        // The run's own result stands; a hook that only watches must not change it.
        this.logger.error(`middleware ${middleware.name ?? ""} afterRun failed`, error);
      }
    }
  }
}
