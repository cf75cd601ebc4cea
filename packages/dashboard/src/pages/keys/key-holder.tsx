import { Link } from "@tanstack/react-router";
import { layerOf, layers } from "../../../../idem/src/server/api/key-layers.ts";
import { runLink } from "../../parts/decision.tsx";
import { Id } from "../../parts/id.tsx";
import type { KeyItem } from "./key-words.ts";

/** The holder: a run, an event, or a caller whose name is its own business. */
export function KeyHolder({ item }: { readonly item: KeyItem }) {
  const layer = layerOf(item.scope);
  if (layer === "http") {
    return <span className="holder cut">{item.state === "in-flight" ? "a request under way" : "a response"}</span>;
  }
  switch (layer === null ? undefined : layers[layer].holder) {
    case "run":
      return (
        <span className="holder cut">
          run <Id id={item.holder} of="run" chars={12} link={(text) => runLink(item.holder, text)} />
        </span>
      );
    case "event":
      return (
        <span className="holder cut">
          event{" "}
          <Id
            id={item.holder}
            of="event"
            chars={12}
            link={(text) => (
              <Link to="/events/$event" params={{ event: item.holder }}>
                {text}
              </Link>
            )}
          />
        </span>
      );
    case undefined:
      return <Id id={item.holder} of="holder" />;
  }
}
