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
  /** A second server that follows this one, and that every commit waits for from now on unless told; this one is stopped for a moment. */
  addStandby(options?: {
    isAwaited?: boolean;
    /** Then it can be promoted and be as durable as the first. */
    takesOver?: boolean;
  }): Promise<LocalStandby>;
  /** Stops it, and those that follow it, and removes its data. */
  remove(): Promise<void>;
}

export interface LocalStandby {
  readonly url: string;
  /** It answers nobody, and commits that wait for it wait. */
  freeze(): void;
  thaw(): void;
  /** It falls behind: what is committed meanwhile it does not have. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** It takes over: from here on it can be written to. */
  promote(): Promise<void>;
  /** What it would be if it took over now: a copy of its disk, promoted. It must be frozen. */
  promotedCopy(): Promise<{ readonly url: string; remove(): Promise<void> }>;
}

export function startLocalPostgres(options?: {
  settings?: Record<string, string>;
  /** Else in memory where there is room. */
  isOnDisk?: boolean;
  /** PEM: then it takes encrypted sessions, too. */
  tls?: { readonly cert: string; readonly key: string };
  /** Of another version than the one that is installed with the packages. */
  programs?: { readonly initdb: string; readonly postgres: string };
}): Promise<LocalPostgres>;
