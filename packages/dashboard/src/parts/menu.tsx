// A button that opens a few things to choose from, under it. A click elsewhere or Escape closes it and gives the focus back.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon } from "./icon.tsx";
import "./menu.css";

interface MenuProps {
  readonly label: string;
  /** Something of it is chosen. */
  readonly isSet?: boolean;
  readonly children: (close: () => void) => ReactNode;
}

export function Menu({ label, isSet = false, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    const leaveByKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("keydown", leaveByKey);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("keydown", leaveByKey);
    };
  }, [isOpen]);
  return (
    <div className="menu" ref={box}>
      <button
        ref={button}
        type="button"
        className={`filter${isSet ? " is-set" : ""}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span>{label}</span>
        <Icon name="down" size={12} />
      </button>
      {isOpen && (
        <section className="menu-panel" id={id} aria-label={label}>
          {children(() => setOpen(false))}
        </section>
      )}
    </div>
  );
}
