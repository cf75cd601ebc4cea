/** On the options of a `send` that hands on what stood in an outbox: whoever plays a program tells it from what code sends while it is loaded. */
export const relayMark = Symbol.for("idem.relay");
