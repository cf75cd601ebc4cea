import { useRouter } from "@tanstack/react-router";
import { Icon } from "../parts/icon.tsx";
import { dismiss, useMessages } from "./messages.ts";
import "./message-area.css";

/** Screen readers speak of things done when there is a pause, of an alert at once. */
export function MessageArea() {
  const messages = useMessages();
  const { history } = useRouter();
  return (
    <>
      {([["alert", "note"], ["done"]] as const).map(([tone, other]) => (
        <div key={tone} className={`messages are-${tone}`} role={tone === "alert" ? "alert" : "status"}>
          {messages
            .filter((each) => each.tone === tone || each.tone === other)
            .map(({ id, text, link, tone: own }) => (
              <p key={id} className={`message is-${own}`}>
                <span>{text}</span>
                {link !== null && (
                  <a
                    href={link.href}
                    onClick={(event) => {
                      dismiss(id);
                      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                      event.preventDefault();
                      history.push(link.href);
                    }}
                  >
                    {link.text}
                  </a>
                )}
                <button type="button" aria-label="Close this message" onClick={() => dismiss(id)}>
                  <Icon name="cross" size={12} />
                </button>
              </p>
            ))}
        </div>
      ))}
    </>
  );
}
