// Data of a line's page.
import type { Answer } from "../../api/client.ts";

export type LineAnswer = Answer<"GET /api/functions/:function/line">;
export type LineLimit = LineAnswer["limits"][number];
