import type { Choice } from "./field.tsx";

/** Values the server reads as `since`. */
export const timeChoices: readonly Choice[] = [
  { value: "", text: "all" },
  { value: "1h", text: "last hour" },
  { value: "24h", text: "last 24 hours" },
  { value: "7d", text: "last 7 days" },
  { value: "30d", text: "last 30 days" },
];
