// Who holds a claim: a name that nobody else makes.
import type { Platform } from "../../platform/platform.ts";

export const newOwner = (platform: Pick<Platform, "randomBytes">): string =>
  Buffer.from(platform.randomBytes(16)).toString("hex");
