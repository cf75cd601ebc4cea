// The target, as attackers and honest callers know it: addresses, and what each of them may have.

export interface Target {
  /** Of `idem start`. */
  readonly server: string;
  /** Of the app it calls, which also has a route behind an Idempotency-Key. */
  readonly app: string;
  /** In the apps of honest senders. */
  readonly eventKey: string;
  /** In a browser: attackers have it. */
  readonly publicEventKey: string;
  readonly signingKey: string;
  /** Of an environment that is an attacker's. */
  readonly otherSigningKey: string;
  /** In a browser: attackers have it. */
  readonly realtimeToken: string;
  readonly webhookSecret: string;
  /** Cookies. The viewer's is an attacker's. */
  readonly operator: string;
  readonly viewer: string;
  readonly viewerPassword: string;
}

export const appPath = "/api/idem";
/** Of the app's calls, what an attacker on the wire has: the last ones that were executed. */
export const capturedPath = "/captured";

export interface CapturedCall {
  readonly query: string;
  readonly signature: string;
  readonly body: string;
}

export const keyedPath = "/charge";
/** Its events' names are reserved for it: honest senders' names begin with another word. */
export const source = "provider";
/** Its provider signs the sorted fields of a form. */
export const formSource = "texts";
