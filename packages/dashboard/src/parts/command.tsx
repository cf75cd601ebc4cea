// A command to be run where the code is: as it is typed, and copied with one press.
import { Copy } from "./copy.tsx";
import { visibleText } from "./visible-text.ts";
import "./command.css";

export const Command = ({ name, command }: { readonly name: string; readonly command: string }) => (
  <div className="command">
    <span className="faint">{name}</span>
    <code>{visibleText(command)}</code>
    <Copy text={command} what={`the command: ${name}`} />
  </div>
);
