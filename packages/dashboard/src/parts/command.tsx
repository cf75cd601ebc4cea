// A command to be run where the code is: as it is typed, and copied with one press.
import { Fragment } from "react";
import { Copy } from "./copy.tsx";
import { visibleText } from "./visible-text.ts";
import "./command.css";

export const Command = ({ name, command }: { readonly name: string; readonly command: string }) => (
  <div className="command">
    <span className="faint">{name}</span>
    <code>
      {command.split(" ").map((word, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the words of one line, which has no other order
        <Fragment key={at}>
          {at > 0 && " "}
          <span>{visibleText(word)}</span>
        </Fragment>
      ))}
    </code>
    <Copy text={command} what={`the command: ${name}`} />
  </div>
);
