// Nothing to show, and what to do about it.
import type { ReactNode } from "react";
import "./empty.css";

export const Empty = ({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) => (
  <div className="empty">
    <p className="title">{title}</p>
    {children}
  </div>
);
