// The only search box: `/` or Ctrl-K, on every page. It searches while one types; Enter explains the text, the arrows choose among
// what was found.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ask } from "../api/client.ts";
import { useKeys } from "../keys.ts";
import { Icon } from "../parts/icon.tsx";
import { StateIcon } from "../parts/state-icon.tsx";
import { visibleText } from "../parts/visible-text.ts";
import { nothingWords, type SearchItem, searchParts } from "./search-items.ts";
import "./search.css";

// Typing is not a question yet; a pause is.
const typingMs = 200;
const label = "Search, or explain a run, event or key";

export function ExplainBox() {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const navigate = useNavigate();
  const router = useRouter();
  const listId = useId();
  const q = text.trim();
  useEffect(() => {
    setChosen(-1);
    const timer = setTimeout(() => setAsked(q), typingMs);
    return () => clearTimeout(timer);
  }, [q]);
  const { data: found, isFetching } = useQuery({
    queryKey: ["search", asked],
    queryFn: ({ signal }) => ask("GET /api/search", { query: { q: asked.slice(0, 200) }, signal }),
    enabled: asked !== "" && isFocused,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
  const isShown = isFocused && q !== "";
  // While one types on, and while the server looks: what is listed may still move.
  const isLooking = isShown && (asked !== q || isFetching);
  const parts = isShown ? searchParts(q, found) : [];
  const items = parts.flatMap((part) => part.items);
  const nothing = isShown && asked === q ? nothingWords(found) : null;
  const open = () => {
    // On a narrow screen the field is there only once it is open, and what is typed next already belongs to it.
    flushSync(() => setOpen(true));
    field.current?.focus();
    field.current?.select();
  };
  const leave = () => {
    setOpen(false);
    field.current?.blur();
  };
  const go = ({ to, params, search }: SearchItem, isNewTab: boolean) => {
    const target = { to, params: params ?? {}, search: search ?? {} } as unknown as Parameters<typeof navigate>[0];
    leave();
    if (isNewTab) window.open(router.buildLocation(target as never).href, "_blank", "noopener");
    else void navigate(target);
  };
  useKeys([
    { keys: "/", words: label, run: open },
    { keys: "Escape", words: "Back out", inFields: true, run: leave },
  ]);
  useEffect(() => {
    const hear = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      open();
    };
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  });
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && items.length > 0) {
      event.preventDefault();
      setChosen((chosen + by + items.length) % items.length);
    } else if (event.key === "Enter" && items[chosen] !== undefined) {
      event.preventDefault();
      go(items[chosen]!, event.ctrlKey || event.metaKey);
    }
  };
  return (
    <>
      <button type="button" className="explain-open" aria-label={label} onClick={open}>
        <Icon name="search" />
      </button>
      <search>
        <form
          className={`explain-box${isOpen ? " is-open" : ""}`}
          onSubmit={(event) => {
            event.preventDefault();
            if (q === "") return;
            leave();
            void navigate({ to: "/explain", search: { q } });
          }}
        >
          <Icon name="search" />
          <input
            ref={field}
            type="text"
            role="combobox"
            aria-label={label}
            aria-expanded={isShown}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={items[chosen] === undefined ? undefined : `${listId}-${chosen}`}
            placeholder="Search, or jump to"
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={move}
            onFocus={() => setFocused(true)}
            onBlur={() => setFocused(false)}
            maxLength={500}
            spellCheck={false}
            autoComplete="off"
          />
          <kbd>/</kbd>
          <div className="search-results" hidden={!isShown}>
            {found?.unheard != null && isShown && (
              <p className="search-unheard">
                <b>
                  No function listens to <code>{visibleText(found.unheard.name)}</code>.
                </b>{" "}
                It came {found.unheard.recentCount === 1 ? "once" : `${found.unheard.recentCount} times`} among the
                newest 100 events and started nothing.
                {found.unheard.meant !== null && (
                  <>
                    {" "}
                    Did you mean <code>{visibleText(found.unheard.meant)}</code>?
                  </>
                )}
              </p>
            )}
            {nothing !== null && <p className="search-nothing">{nothing}</p>}
            <div role="listbox" id={listId} aria-label="What was found" aria-busy={isLooking}>
              {parts.map((part) => (
                // biome-ignore lint/a11y/useSemanticElements: options of a list box stand in groups, which no element is
                <div key={part.title} role="group" aria-label={part.title}>
                  <p className="search-title" aria-hidden="true">
                    <span>{part.title}</span>
                    <span>{part.beside}</span>
                  </p>
                  {part.items.map((item) => {
                    const at = items.indexOf(item);
                    return (
                      // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the option
                      // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
                      <div
                        key={item.id}
                        id={`${listId}-${at}`}
                        role="option"
                        aria-selected={at === chosen}
                        className="search-item"
                        // Before the field loses the focus, and the list with it.
                        onMouseDown={(event) => event.preventDefault()}
                        onClick={(event) => go(item, event.ctrlKey || event.metaKey)}
                      >
                        {item.state === undefined ? (
                          <Icon name={item.icon} size={14} />
                        ) : (
                          <StateIcon state={item.state} />
                        )}
                        <bdi className="cut">{visibleText(item.text)}</bdi>
                        <span className="faint cut">{visibleText(item.beside)}</span>
                      </div>
                    );
                  })}
                </div>
              ))}
            </div>
            <p className="search-keys" aria-hidden="true">
              <span>
                <kbd>↑</kbd> <kbd>↓</kbd> choose
              </span>
              <span>
                <kbd>Enter</kbd> open
              </span>
              <span>
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> new tab
              </span>
              <span>
                <kbd>Esc</kbd> back
              </span>
            </p>
          </div>
        </form>
      </search>
    </>
  );
}
