// A word or two about a row.
import type { ReactNode } from "react";
import "./tag.css";

export type TagTone = "plain" | "doubled" | "suppressed" | "waiting" | "failed";

export const Tag = ({ tone = "plain", children }: { readonly tone?: TagTone; readonly children: ReactNode }) => (
  <span className={`tag is-${tone}`}>{children}</span>
);
