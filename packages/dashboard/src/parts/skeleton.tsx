// Rows that are on their way: still grey bars of the final height, and only after a moment, so that a fast answer does not flash.
import { useEffect, useState } from "react";
import "./skeleton.css";

const afterMs = 150;

export function Skeleton({ rows = 8 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), afterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={`skeleton${isShown ? " is-shown" : ""}`} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars have nothing else to be told apart by
        <span key={i} />
      ))}
    </div>
  );
}
