// The places where a request can be cut off: before and after whatever it asks of a store, and around its effect. A process that is to
// die at one of them kills itself there: the signal is sent by the code that passes the place, so there is no timer to be early or late.
import { appendFileSync } from "node:fs";

/** By its name (and which of several such), or by how many were passed before it. */
export type Death =
  | { readonly at: string; readonly about?: string; readonly visit?: number }
  | { readonly after: number };

export class Points {
  /** In order, as they were passed since `expect`. */
  readonly passed: string[] = [];
  private death: Death | null = null;
  private visits = 0;

  /** The file in which a process writes down how it died, for the next one; null where it only counts. */
  constructor(private readonly deaths: string | null) {}

  expect(death: Death | null): void {
    this.death = death;
    this.passed.length = 0;
    this.visits = 0;
  }

  /** `about` tells requests apart that are at work at the same time. */
  reach(name: string, about?: string): void {
    this.passed.push(name);
    if (this.deaths !== null && this.isHere(name, about)) die(this.deaths, name);
  }

  /** Whether the next visit of this place is the last thing the process does. */
  isNext(name: string): boolean {
    const { death } = this;
    if (death === null || this.deaths === null) return false;
    return "after" in death ? this.passed.length === death.after : death.at === name;
  }

  private isHere(name: string, about: string | undefined): boolean {
    const { death } = this;
    if (death === null) return false;
    if ("after" in death) return this.passed.length === death.after + 1;
    if (death.at !== name || (death.about !== undefined && death.about !== about)) return false;
    return ++this.visits === (death.visit ?? 1);
  }
}

function die(deaths: string, name: string): void {
  appendFileSync(deaths, `${name}\n`);
  // The system call does not come back.
  process.kill(process.pid, "SIGKILL");
}
