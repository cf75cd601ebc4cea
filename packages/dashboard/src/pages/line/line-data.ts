// What the page of a line shows.
import type { Answer } from "../../api/client.ts";

export type LineAnswer = Answer<"GET /api/functions/:function/line">;
export type LineLimit = LineAnswer["limits"][number];
