// A stretch of a track chosen by hand: where it was begun and where the hand is, 0 to 1.
import { type PointerEvent, useRef, useState } from "react";

// A hand that only meant to click moves this little.
const dragMin = 0.02;

interface Stretch {
  readonly from: number;
  readonly to: number;
}

export function useDrag({
  onDrag,
  onClick,
}: {
  readonly onDrag: (stretch: Stretch) => void;
  readonly onClick?: (at: number) => void;
}) {
  const track = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Stretch | null>(null);
  const placeOf = ({ clientX }: PointerEvent): number => {
    const { left, width } = track.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  return {
    track,
    drag,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = placeOf(event);
        setDrag({ from: at, to: at });
      },
      onPointerMove: (event: PointerEvent) => drag !== null && setDrag({ ...drag, to: placeOf(event) }),
      onPointerUp: () => {
        if (drag === null) return;
        setDrag(null);
        const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
        if (to - from >= dragMin) onDrag({ from, to });
        else onClick?.(from);
      },
      onPointerCancel: () => setDrag(null),
    },
  };
}
