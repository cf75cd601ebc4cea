// Apart from the shapes, for whoever asks: nothing of zod goes along.
export type { StoreRead } from "./store-read-shapes.ts";

/** Of one answer with payloads; who wants more asks again from where it ended. */
export const payloadRowsMax = 100;
