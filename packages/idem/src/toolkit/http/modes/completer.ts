// Ends what nobody retries: records whose claimant is gone are taken up where they stopped, by the list of phases itself. No request is made
// again and nobody is impersonated; the input was stored with the key.

import { parseDuration } from "../../../model/duration.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { newOwner } from "../../claim/claim-operations.ts";
import { repeating } from "../../claim/work-under-claim.ts";
import { ownError } from "./attempt-transaction.ts";
import { type KeyReaderWithStore, type PhasedOptions, phaseWorldOf } from "./phased.ts";
import type { AnyPhases } from "./phases.ts";
import { type PhasesEnd, runPhases } from "./run-phases.ts";

export interface CompleterOptions
  extends Pick<PhasedOptions, "lease" | "window" | "maxTx" | "responseBytesMax" | "replayHeaders"> {
  /** Time between two looks. Default "30s". */
  readonly every?: string | number;
  /** After this many attempts, those of clients included, a person has to decide. Default 12: about three hours. */
  readonly maxAttempts?: number;
  readonly logger?: { error(message: string): void };
}

export interface Completed {
  readonly ended: number;
  readonly left: number;
  readonly parked: number;
  readonly lost: number;
}

export interface Completer {
  start(): void;
  /** Resolves once what it had taken up has ended or been left. */
  stop(): Promise<void>;
  /** One look, and the work that was found. */
  tick(): Promise<Completed>;
}

// Each is one lease and perhaps one session: enough to be done with a crash's leftovers in a few ticks, and not a herd.
const takenAtOnce = 10;

/**
 * ```ts
 * const complete = completer(keys, [createRide], { every: "30s" });
 * complete.start();
 * ```
 *
 * As many processes may run one as like: each record is taken by one of them.
 */
export function completer(
  reader: KeyReaderWithStore,
  lists: readonly AnyPhases[],
  options: CompleterOptions = {},
): Completer {
  refuseUnknown<CompleterOptions>("completer", options, {
    lease: true,
    window: true,
    maxTx: true,
    responseBytesMax: true,
    replayHeaders: true,
    every: true,
    maxAttempts: true,
    logger: true,
  });
  const { keys, platform } = reader;
  const everyMs = parseDuration(options.every ?? "30s", "every");
  const { maxAttempts = 12, logger = console } = options;
  const world = phaseWorldOf(reader, options);

  const endOf = async (phases: AnyPhases, taken: Taken): Promise<PhasesEnd["kind"]> => {
    const { record, fence, attempt, owner } = taken;
    const holder = { id: record.id, owner, fence };
    const say = (what: string) =>
      logger.error(`Key ${record.about.hint} of ${record.about.method} ${record.about.path} (${phases.name}) ${what}`);
    if (attempt > maxAttempts) {
      const reason = `it was not ended in ${maxAttempts} attempts`;
      const held = await keys.park(holder, reason);
      if (held === "held") say(`was parked: ${reason}`);
      return held === "held" ? "parked" : "lost";
    }
    const input: unknown = JSON.parse(record.work!.input);
    const end = await runPhases(phases, { holder, attempt, input, point: record.point }, world);
    if (end.kind === "parked") say(`was parked: ${end.reason}`);
    if (end.kind === "left") say(`is left for later: ${wordsOf(ownError(end.error))}`);
    return end.kind;
  };

  const tick = async (): Promise<Completed> => {
    const count = { ended: 0, left: 0, parked: 0, lost: 0 };
    for (const phases of lists) {
      const owner = newOwner(platform);
      const found = await keys.takeUnfinished({
        work: phases.name,
        owner,
        leaseMs: world.leaseMs,
        limit: takenAtOnce,
      });
      const ends = await Promise.all(found.map((taken) => endOf(phases, { ...taken, owner })));
      for (const kind of ends) count[kind] += 1;
    }
    return count;
  };

  // The database is away for a while: what is unfinished stays so, and is found at the next look.
  const looking = repeating(
    platform,
    everyMs,
    () => tick().then(() => null),
    (error) => logger.error(`The completer could not look: ${wordsOf(error)}`),
  );
  return { tick, start: () => looking.start(0), stop: () => looking.stop() };
}

type Taken = Awaited<ReturnType<KeyReaderWithStore["keys"]["takeUnfinished"]>>[number] & { readonly owner: string };

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
