export interface LocalPostgres {
  readonly port: number;
  readonly url: string;
  /** Starts it again after `crash` or `stop`. */
  start(): Promise<void>;
  /** As if the machine lost it: no shutdown, recovery at the next start. */
  crash(): Promise<void>;
  /** A quick orderly shutdown. */
  stop(): Promise<void>;
  log(): string;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

export function startLocalPostgres(options?: { settings?: Record<string, string> }): Promise<LocalPostgres>;
