// What the main thread and the beating one know of each other, in memory they share: read and written at any instant, by neither waiting.
// One place for each worker; a place is not given out again before all others were, so that a late answer never speaks for another worker.
import type { StoreRollback } from "../history.ts";
import type { Beat } from "../sharing.ts";

const placesCount = 512;
const cellsPerPlace = 2;
const lived = 0;
const stateNames = ["held", "dead", "lapsed"] as const;

const micros = (ms: number): bigint => BigInt(Math.round(ms * 1_000));
const millis = (cell: bigint): number => Number(cell) / 1_000;

export class BeatBoard {
  private readonly cells: BigInt64Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(8 * (1 + placesCount * cellsPerPlace))) {
    this.cells = new BigInt64Array(memory);
  }

  /** The n-th worker's place. */
  static placeOf(n: number): number {
    return n % placesCount;
  }

  live(mono: number): void {
    Atomics.store(this.cells, lived, micros(mono));
  }

  get livedAt(): number {
    return millis(Atomics.load(this.cells, lived));
  }

  write(place: number, { askedMono, state }: Beat): void {
    const at = 1 + place * cellsPerPlace;
    Atomics.store(this.cells, at, micros(askedMono));
    Atomics.store(this.cells, at + 1, BigInt(stateNames.indexOf(state)));
  }

  read(place: number): Beat {
    const at = 1 + place * cellsPerPlace;
    const askedMono = millis(Atomics.load(this.cells, at));
    const state = stateNames[Number(Atomics.load(this.cells, at + 1))] ?? "lapsed";
    return { askedMono, state };
  }
}

export interface BeatThreadInput {
  readonly memory: SharedArrayBuffer;
  readonly url: string;
  readonly owner: string;
  readonly termMs: number;
  readonly blockedMaxMs: number;
  readonly about: { readonly node: string; readonly version: string; readonly role: "all" | "api" | "worker" } | null;
}

export type ToBeatThread =
  | { readonly kind: "hold"; readonly worker: string; readonly place: number }
  | { readonly kind: "drop"; readonly worker: string }
  | { readonly kind: "close" };

export type FromBeatThread =
  | { readonly kind: "open" }
  | { readonly kind: "failed"; readonly why: string }
  /** A heartbeat found that the store lost acknowledged writes. */
  | { readonly kind: "rollback"; readonly rollback: StoreRollback };
