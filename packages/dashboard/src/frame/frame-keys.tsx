import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { boundKeys, type KeyBinding, useKeys } from "../keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { places } from "./navigation.ts";
import "./frame-keys.css";

/** Keys that hold on every page, and the list of those that hold on this one. */
export function FrameKeys() {
  const navigate = useNavigate();
  const [shown, setShown] = useState<readonly KeyBinding[] | null>(null);
  useKeys([
    ...places.map(({ to, text, letter }) => ({
      keys: `g ${letter}`,
      words: `Go to ${text}`,
      run: () => void navigate({ to }),
    })),
    { keys: "?", words: "This list", run: () => setShown(boundKeys()) },
  ]);
  if (shown === null) return null;
  return (
    <Dialog title="Keys" onClose={() => setShown(null)}>
      <p className="quiet">They are inactive in fields. Everything they do can be reached with Tab.</p>
      <dl className="key-list">
        {shown.map(({ keys, words }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
