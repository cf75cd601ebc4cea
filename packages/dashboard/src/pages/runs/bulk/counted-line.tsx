// The number of runs something is true of, with the first of them on demand.
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Id } from "../../../parts/id.tsx";
import "./bulk.css";

export function Counted({
  icon,
  count,
  words,
  runIds = [],
}: {
  readonly icon: ReactNode;
  readonly count: number;
  readonly words: ReactNode;
  readonly runIds?: readonly string[];
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div className="line">
        {icon}
        <span>
          <b>{count.toLocaleString("en")}</b> {words}
        </span>
        {runIds.length > 0 && (
          <Button look="link" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            List
          </Button>
        )}
      </div>
      {isOpen && (
        <ul className="ids">
          {runIds.map((id) => (
            <li key={id}>
              <Id
                id={id}
                of="run"
                link={(text) => (
                  <Link to="/runs/$run" params={{ run: id }} target="_blank">
                    {text}
                  </Link>
                )}
              />
            </li>
          ))}
          {count > runIds.length && <li className="faint">and {(count - runIds.length).toLocaleString("en")} more</li>}
        </ul>
      )}
    </li>
  );
}
