// What workers and housekeeping are answered.

export interface HeartbeatAnswer {
  /** False when this worker was declared lost: its leases are gone for good and it needs a new id. */
  readonly alive: boolean;
  readonly now: number;
}

export interface SweepAnswer {
  /** Leases taken back from workers that went silent. */
  readonly rescued: number;
  /** Open runs that had neither job nor wait and were given one; more than zero is a defect worth an alarm. */
  readonly repaired: number;
  readonly reaped: number;
  readonly queued: boolean;
}
