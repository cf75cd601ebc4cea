// Functions that need not be verified again: none of the files they are made of has changed. In doubt a function is verified.
import type { DescribedFunction } from "../verify/worker/messages.ts";
import type { Changes } from "./changed-files.ts";
import { type Needed, NeededFiles } from "./needed-files.ts";

export interface ChangeQuestion {
  readonly changes: Changes;
  /** The program's modules, its configuration first if it has one. */
  readonly modules: readonly string[];
  /** Every function's verdict depends on these beside its code: the configuration, recordings, the file of events. */
  readonly inputs: readonly string[];
  readonly shorten: (file: string) => string;
}

export type Change =
  /** Nothing it is made of has changed: this many files were looked at. */
  | { readonly kind: "same"; readonly files: number }
  | { readonly kind: "changed" }
  /** It is verified, and this is why nobody knows. */
  | { readonly kind: "unclear"; readonly why: string };

export class ChangedFunctions {
  private readonly needed: NeededFiles;
  private readonly program: Needed;
  private readonly inputs: Needed;

  constructor(private readonly question: ChangeQuestion) {
    this.needed = new NeededFiles(question.shorten);
    this.program = this.needed.of(question.modules);
    this.inputs = this.needed.of(question.inputs);
  }

  of({ place, madeBy }: Pick<DescribedFunction, "place" | "madeBy">): Change {
    const { changes, shorten } = this.question;
    // Where its maker is unknown, everything that was loaded may be it.
    const own = madeBy === null ? this.program : this.needed.of(madeBy);
    // Files that load its modules may have prepared something for them.
    const above = place === null ? [] : this.needed.leadingTo(place.file, this.program.files);
    const files = [...new Set([...own.files, ...above, ...this.inputs.files])];
    const folders = [...own.folders, ...this.inputs.folders];
    if (files.some((file) => changes.of(file) === "changed") || folders.some((folder) => changes.isIn(folder)))
      return { kind: "changed" };
    const around = files.flatMap((file) => changes.around(file) ?? [])[0];
    if (around !== undefined) return { kind: "unclear", why: `${around} has changed, and with it what names lead to` };
    const unclear = own.unclear ?? this.inputs.unclear;
    if (unclear !== null) return { kind: "unclear", why: unclear };
    const strange = files.find((file) => changes.of(file) === "unknown");
    if (strange !== undefined) return { kind: "unclear", why: `git does not look after ${shorten(strange)}` };
    if (madeBy === null && this.program.unclear !== null) return { kind: "unclear", why: this.program.unclear };
    return { kind: "same", files: files.length };
  }
}
