// A sentence before everything else on the page: what is wrong, or that nothing is, with the way out beside it.
import type { ReactNode } from "react";
import { Glyph } from "./glyph.tsx";
import { Icon } from "./icon.tsx";
import { StateIcon } from "./state-icon.tsx";
import "./note.css";

export type NoteTone = "doubled" | "failed" | "waiting" | "good" | "suppressed" | "plain";

interface NoteProps {
  readonly tone: NoteTone;
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode | undefined;
}

const icons = {
  doubled: <Glyph name="doubled" size={16} />,
  failed: <StateIcon state="failed" words={false} />,
  waiting: <StateIcon state="waiting" words={false} />,
  good: <StateIcon state="completed" words={false} />,
  suppressed: <Glyph name="suppressed" size={16} />,
  plain: <Icon name="explain" />,
} as const;

export function Note({ tone, title, children, actions }: NoteProps) {
  return (
    <section className={`note is-${tone}`}>
      {icons[tone]}
      <div className="text">
        <h2>{title}</h2>
        {children !== undefined && <p className="quiet">{children}</p>}
      </div>
      {actions !== undefined && <div className="actions">{actions}</div>}
    </section>
  );
}
