// Errors as the driver reports them: those of the server carry its code, those of the network the system's, and some carry none.

export class DriverError extends Error {
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

const error = (message: string, code?: string) => () => new DriverError(message, code);

export const driverErrors = {
  couldNotSerialize: error("could not serialize access due to concurrent update", "40001"),
  deadlock: error("deadlock detected", "40P01"),
  lockTimeout: error("canceling statement due to lock timeout", "55P03"),
  idleTimeout: error("terminating connection due to idle-in-transaction timeout", "25P03"),
  terminated: error("terminating connection due to administrator command", "57P01"),
  crashed: error("Connection terminated unexpectedly"),
  reset: error("read ECONNRESET", "ECONNRESET"),
  refused: error("connect ECONNREFUSED", "ECONNREFUSED"),
  startingUp: error("the database system is starting up", "57P03"),
  noAnswer: error("Query read timeout"),
  // Whatever ended it: a transaction whose COMMIT was never sent is as good as rolled back, and the store knows.
  neverCommitted: error("the session ended before COMMIT was sent", "40001"),
} as const;
