// For this long a provider delivers again by itself when it hears no answer, by its own documentation; a person's click can come later still.
import type { SourceProvider } from "../../toolkit/webhooks/source-setting.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
// At once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.
const svixMs = 27 * hourMs + 35 * minuteMs;

const horizons: Partial<Record<SourceProvider, number>> = {
  stripe: 3 * dayMs,
  paddle: 3 * dayMs,
  shopify: 4 * hourMs,
  slack: 6 * minuteMs,
  linear: 7 * hourMs + minuteMs,
  // Never by itself; by hand for three days.
  github: 3 * dayMs,
  svix: svixMs,
  resend: svixMs,
  clerk: svixMs,
};

/** Null where nobody says. */
export const retryHorizonMs = (provider: SourceProvider): number | null => horizons[provider] ?? null;
