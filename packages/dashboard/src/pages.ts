// The pages: each is a file of its own that is loaded when its address is opened. An address whose file is not there
// answers "Nothing here".
import type { RouteComponent } from "@tanstack/react-router";

const files = import.meta.glob<{ readonly Page: RouteComponent }>("./pages/*/*-page.tsx");

/** Every address of the dashboard, with the file in `pages/` that shows it. */
export const pageFiles = {
  "/": "first-minutes/home-page",
  "/runs": "runs/runs-page",
  "/runs/$run": "run/run-page",
  "/runs/$run/compare/$other": "compare/compare-page",
  "/events": "events/events-page",
  "/events/$event": "events/event-page",
  "/events/new": "events/new-event-page",
  "/keys": "keys/keys-page",
  "/keys/$claim": "keys/key-page",
  "/functions": "functions/functions-page",
  "/functions/$fn": "function/function-page",
  "/functions/$fn/line": "line/line-page",
  "/workers": "workers/workers-page",
  "/apps": "apps/apps-page",
  "/webhooks": "webhooks/webhooks-page",
  "/webhooks/$source": "webhook/webhook-page",
  "/radar": "radar/radar-page",
  "/radar/alerts/$alert": "radar/alert-page",
  "/radar/suggestions/$fn": "radar/suggestion-page",
  "/radar/rules": "radar/rules-page",
  "/radar/history": "radar/history-page",
  "/explain": "explain/explain-page",
  "/audit": "audit/audit-page",
  "/settings": "settings/settings-page",
  "/login": "login/login-page",
} as const;

export type PageAddress = keyof typeof pageFiles;

export const pageLoader = (address: PageAddress): (() => Promise<{ readonly Page: RouteComponent }>) | undefined =>
  files[`./pages/${pageFiles[address]}.tsx`];

export const hasPage = (address: string): boolean =>
  address in pageFiles && pageLoader(address as PageAddress) !== undefined;
