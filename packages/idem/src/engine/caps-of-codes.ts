// The functions this process can run and what they allow: read with every lease, put together only when one of them changed.
import { fingerprintOf } from "../execute/code-of-run.ts";
import type { Code } from "../execute/function-code.ts";
import type { LaneCaps } from "../flow/lane.ts";
import { capsOf } from "../flow/lane.ts";
import type { Registry } from "./registry.ts";

interface FunctionsAndCaps {
  readonly functions: readonly string[];
  readonly caps: Readonly<Record<string, LaneCaps>>;
  readonly codes: Readonly<Record<string, string>>;
}

export class CapsOfCodes {
  private last:
    | (FunctionsAndCaps & { readonly registration: number; readonly ended: number; readonly version: number })
    | null = null;
  private version = 0;

  constructor(
    private readonly codes: ReadonlyMap<string, Code>,
    private readonly registry: Registry,
  ) {}

  /** The codes are others now. */
  changed(): void {
    this.version++;
  }

  read(): FunctionsAndCaps {
    const { registration, limitsEnded: ended } = this.registry;
    const { last, version } = this;
    if (last !== null && last.registration === registration && last.ended === ended && last.version === version)
      return last;
    const caps: Record<string, LaneCaps> = {};
    const codes: Record<string, string> = {};
    for (const [fn, code] of this.codes) {
      // Another process may have registered a newer configuration than the one the code came with.
      const allowed = capsOf(this.registry.get(fn)?.config ?? code.config);
      if (allowed !== null) caps[fn] = allowed;
      codes[fn] = fingerprintOf(code);
    }
    this.last = { registration, ended, version, functions: [...this.codes.keys()], caps, codes };
    return this.last;
  }
}
