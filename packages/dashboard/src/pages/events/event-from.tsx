import { Link } from "@tanstack/react-router";
import { hasPage } from "../../pages.ts";
import { runLink } from "../../parts/decision.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import type { Origin } from "./event-lines.ts";

export function EventFrom({ origin }: { readonly origin: Origin }) {
  switch (origin.kind) {
    case "run":
      return (
        <span className="cut">run {runLink(origin.run, <span className="mono">{cutMiddle(origin.run)}</span>)}</span>
      );
    case "webhook":
      return (
        <span className="cut">
          webhook{" "}
          {hasPage("/webhooks/$source") ? (
            <Link to="/webhooks/$source" params={{ source: origin.source }}>
              {origin.source}
            </Link>
          ) : (
            origin.source
          )}
        </span>
      );
    case "idem":
      return <span>Idem</span>;
    case "send":
      return <span>send</span>;
  }
}
