// A page says its title, and the frame shows it in the top bar: one h1, the way back before it, and the tab's name.
import { Link } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { createPortal } from "react-dom";
import { Icon } from "../parts/icon.tsx";
import { useOpenAlerts } from "./open-alerts.ts";

// The way back to a list is short and stays whole; the name of one thing gives way to the title.
const wholeChars = 12;

export const TitlePlace = createContext<HTMLElement | null>(null);

interface PageTitleProps {
  /** As text, for the tab. */
  readonly title: string;
  /** As it is shown; the text by default. */
  readonly children?: ReactNode;
  readonly under?: { readonly to: string; readonly text: string };
}

export function PageTitle({ title, children, under }: PageTitleProps) {
  const place = useContext(TitlePlace);
  const alerts = useOpenAlerts();
  useEffect(() => {
    document.title = `${alerts > 0 ? `(${alerts}) ` : ""}${title} · Idem`;
  }, [title, alerts]);
  if (place === null) return null;
  return createPortal(
    <>
      {under !== undefined && (
        <>
          <Link className={under.text.length > wholeChars ? "cut" : ""} to={under.to}>
            {under.text}
          </Link>
          <Icon name="right" size={12} />
        </>
      )}
      <h1 className="cut" tabIndex={-1}>
        {children ?? title}
      </h1>
    </>,
    place,
  );
}
