import type { HeldReport, verifyEndpoint, verifyTick, verifyWebhook, WorldOptions } from "idem/verify";

export interface HandlerPair {
  readonly name: string;
  readonly expected: { readonly verdict: string; readonly line: number };
}

export declare function handlerPairs(): HandlerPair[];

export declare function isFound(report: HeldReport, expected: HandlerPair["expected"]): boolean;

export declare function verifyHalf(
  by: {
    readonly verifyEndpoint: typeof verifyEndpoint;
    readonly verifyWebhook: typeof verifyWebhook;
    readonly verifyTick: typeof verifyTick;
  },
  name: string,
  half: "faulty" | "mended",
  options?: WorldOptions,
): Promise<HeldReport>;
