// A window is how long a key stays taken: half-open, [taken, ends). At the instant it ends the key is free.

export const dayMs = 24 * 60 * 60 * 1000;

export interface Window {
  readonly endsAt: number;
  /** Kept open past its end while the run that holds it is open (`window: "until-finished"`). */
  readonly held: boolean;
}

export const isOpen = (window: Window, now: number): boolean => window.held || now < window.endsAt;
