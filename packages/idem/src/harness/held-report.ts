// The result for a test: the report of the command, its text for people, and an assertion.
import { paintFor } from "../cli/paint.ts";
import { showReport } from "../cli/show-verdicts.ts";
import type { Verdict } from "../model/verdict.ts";
import { worstOf } from "../verify/judge.ts";
import { exitCodeOf, type VerifyReport } from "../verify/report.ts";

/** Something did not hold. The message is the report, as `idem verify` prints it. */
export class NotHeldError extends Error {
  override readonly name = "NotHeldError";
  constructor(readonly report: HeldReport) {
    super(`not held\n\n${report.text}`);
  }
}

/** The report of `idem verify --reporter json`, and what a test does with it. */
export interface HeldReport extends VerifyReport {
  /** The worst of all; HELD where nothing is wrong or unproven. */
  readonly verdict: Verdict;
  /** For people: verdict, timeline, place, change and what plays it again. */
  readonly text: string;
  /**
   * Throws `NotHeldError` unless everything held or was accepted. UNPROVEN is no success.
   *
   * ```ts
   * const report = await verify(idem, { function: "draft-invoice", event });
   * report.assertHeld();
   * ```
   */
  assertHeld(): void;
}

const plain = paintFor({ env: () => undefined }, { isTerminal: false, columns: null, write: () => true });

export function heldReport(report: VerifyReport, cwd: string): HeldReport {
  const lines: string[] = [];
  showReport({ say: (line) => void lines.push(line), paint: plain, io: { cwd, out: { columns: null } } }, report);
  const held: HeldReport = {
    ...report,
    verdict: worstOf(report.functions.map(({ verdict }) => verdict)),
    text: lines.join("\n"),
    assertHeld() {
      if (exitCodeOf(report) !== 0) throw new NotHeldError(held);
    },
  };
  return held;
}
