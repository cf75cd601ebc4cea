import { z } from "zod";

export const key = z.string().nullable().describe("CEL over `event`; null for one on the whole function");
