// The frame around every page: where one can go, where one is, the box that explains, and whether the page is live.
import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useSession } from "../api/session.ts";
import { cannotAct } from "../parts/button.tsx";
import { AlertWatch } from "./alert-watch.tsx";
import { BottomBar } from "./bottom-bar.tsx";
import { FrameKeys } from "./frame-keys.tsx";
import { MessageArea } from "./message-area.tsx";
import { TitlePlace } from "./page-title.tsx";
import { SessionEnd } from "./session-end.tsx";
import { SideBar } from "./side-bar.tsx";
import { TopBar } from "./top-bar.tsx";
import "./frame.css";

export function Frame() {
  const [titlePlace, setTitlePlace] = useState<HTMLElement | null>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useSession();
  useHeadingFocus(path, titlePlace);
  // The login page has nothing around its field.
  const isBare = path.endsWith("/login");
  return (
    <TitlePlace value={titlePlace}>
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <div className={`frame${isBare ? " is-bare" : ""}`}>
        {!isBare && <SideBar />}
        <div className="main">
          <TopBar titleRef={setTitlePlace} isBare={isBare} />
          <main id="page" tabIndex={-1}>
            <Outlet />
          </main>
        </div>
        {!isBare && <BottomBar />}
      </div>
      <span id="cannot-act" hidden>
        {cannotAct}
      </span>
      <MessageArea />
      {!isBare && (
        <>
          <AlertWatch />
          <SessionEnd />
        </>
      )}
      <FrameKeys />
    </TitlePlace>
  );
}

/** After a change of page the heading has focus, so that Tab begins there and a screen reader says where one is. */
function useHeadingFocus(path: string, place: HTMLElement | null): void {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path || place === null) return;
    last.current = path;
    place.querySelector("h1")?.focus({ preventScroll: true });
  }, [path, place]);
}
