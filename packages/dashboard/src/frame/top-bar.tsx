import type { Ref } from "react";
import { hasPage } from "../pages.ts";
import { ExplainBox } from "./explain-box.tsx";
import { LiveButton } from "./live-button.tsx";
import "./top-bar.css";

export function TopBar({ titleRef, isBare }: { readonly titleRef: Ref<HTMLDivElement>; readonly isBare: boolean }) {
  return (
    <header className="top-bar">
      <div className="title" ref={titleRef} />
      {!isBare && (
        <>
          {hasPage("/explain") && <ExplainBox />}
          <LiveButton />
        </>
      )}
    </header>
  );
}
