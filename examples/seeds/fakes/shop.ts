// Everything the articles' code reaches for, new for each test, on one clock that moves only when told.
import { testIdem } from "idem/testing";
import { onTestFinished, vi } from "vitest";
import { openDb } from "./db.ts";
import { EmailService } from "./email-service.ts";
import { Stripe } from "./stripe.ts";

export function openShop() {
  const { idem: inngest, clock } = testIdem({ id: "shop" });
  // The articles write new Date() and Date.now(): those tell the same time.
  vi.stubGlobal(
    "Date",
    new Proxy(Date, {
      construct: (RealDate, args) =>
        args.length === 0 ? new RealDate(clock.now()) : Reflect.construct(RealDate, args),
      get: (RealDate, name) => (name === "now" ? clock.now : Reflect.get(RealDate, name)),
    }),
  );
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await inngest.stop();
  });
  const stripe = new Stripe(clock.now);
  const db = openDb(clock.now);
  const emailService = new EmailService();
  return { inngest, clock, stripe, db, emailService };
}
