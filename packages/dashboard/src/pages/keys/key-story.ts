import type { Answer } from "../../api/client.ts";

export type KeyStory = Answer<"GET /api/keys/:scope/:key">;
