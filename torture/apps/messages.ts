// Messages of the apps' process to the torturer.

export interface HostOptions {
  /** Of the load balancer. */
  readonly origin: string;
  readonly signingKey: string;
  readonly eventKey: string;
}

export type FromHost =
  | { readonly kind: "ready"; readonly serveUrl: string; readonly endpointUrl: string }
  /** A step was entered. */
  | { readonly kind: "enter"; readonly app: AppName; readonly n: number; readonly step: string };

/** Ways to reach an app of the official SDK; the last drives its runs itself. */
export const appNames = ["serve", "connect", "endpoint"] as const;
export type AppName = (typeof appNames)[number];

/** Steps of the run number `n`, in the order in which its code has them; sides are side by side. */
export const stepsOf = (app: AppName, n: number): readonly string[] => [
  "a",
  "b",
  ...(app !== "endpoint" && n % 5 === 0 ? ["left", "right"] : []),
  "c",
  "d",
];

/** The value of a step: what one entered again gives is the same, and what a run ends with is all of them. */
export const givenBy = (n: number, step: string): string => `${step}${n}`;

/** A step's length. Those of workers are long enough to lose their line in the middle. */
export function tookMs(app: AppName, n: number, step: string): number {
  if (app === "connect" && step === "c" && n % 3 === 0) return 4_000;
  return 20 + ((n * 7 + step.length * 13) % 100);
}

export const sleeps = (n: number): boolean => n % 4 === 0;
