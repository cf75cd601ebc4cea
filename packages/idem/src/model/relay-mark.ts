/** On the options of a relay's `send`, which hands an outbox on: `idem verify` tells it from what code sends while it is loaded. */
export const relayMark = Symbol.for("idem.relay");
