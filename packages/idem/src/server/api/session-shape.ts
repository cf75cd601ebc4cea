// Who is signed in, as a page asks for it: what it may do, and what it must send along to do it.
import { z } from "zod";
import type { Actor } from "../people/actor.ts";

export const sessionItem = z.object({
  role: z.enum(["operator", "viewer"]).describe("A viewer can look but not act"),
  actor: z.string().describe("What the audit calls them"),
  csrf: z
    .string()
    .nullable()
    .describe("To be sent as X-Idem-CSRF with everything that changes something; null where no cookie was shown"),
  startedAt: z.number().int().nullable(),
  endsAt: z.number().int().nullable().describe("When the session ends if nothing more is asked; null without one"),
});

export const sessionItemOf = ({ role, name, session }: Actor): z.input<typeof sessionItem> => ({
  role,
  actor: name,
  csrf: session?.csrf ?? null,
  startedAt: session?.startedAt ?? null,
  endsAt: session?.endsAt ?? null,
});
