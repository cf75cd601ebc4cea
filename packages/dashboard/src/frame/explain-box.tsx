import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useKeys } from "../keys.ts";
import { Icon } from "../parts/icon.tsx";

/** Paste an id or a key; the Explain page tells its story. */
export function ExplainBox() {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const open = () => {
    // On a narrow screen the field is there only once it is open, and what is typed next already belongs to it.
    flushSync(() => setOpen(true));
    field.current?.focus();
    field.current?.select();
  };
  useKeys([
    { keys: "/", words: "Explain a run, event or key", run: open },
    {
      keys: "Escape",
      words: "Back out",
      inFields: true,
      run: () => {
        setOpen(false);
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
    },
  ]);
  return (
    <>
      <button type="button" className="explain-open" aria-label="Explain a run, event or key" onClick={open}>
        <Icon name="search" />
      </button>
      <search>
        <form
          className={`explain-box${isOpen ? " is-open" : ""}`}
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() === "") return;
            setOpen(false);
            field.current?.blur();
            void navigate({ to: "/explain", search: { q: text.trim() } });
          }}
        >
          <Icon name="search" />
          <input
            ref={field}
            type="text"
            aria-label="Explain a run, event or key"
            placeholder="Explain a run, event or key"
            value={text}
            onChange={({ target }) => setText(target.value)}
            spellCheck={false}
            autoComplete="off"
          />
          <kbd>/</kbd>
        </form>
      </search>
    </>
  );
}
