// Apart from the shapes, so that nothing of zod goes along to callers.
export type { StoreRead } from "./store-read-shapes.ts";

/** Of one answer with payloads; who wants more asks again from where it ended. */
export const payloadRowsMax = 100;
