// Every address of the dashboard and what may stand in it. Pages are loaded when they are opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { eventOutcomes } from "../../idem/src/model/decision.ts";
import { keyLayers } from "../../idem/src/server/api/key-layers.ts";
import { runOrders } from "../../idem/src/server/api/run-orders.ts";
import { basePath } from "./base-path.ts";
import { Frame } from "./frame/frame.tsx";
import { Nothing } from "./frame/nothing.tsx";
import { PageError } from "./frame/page-error.tsx";
import { verdictFilters } from "./pages/functions/verdict-words.ts";
import { type PageAddress, pageLoader } from "./pages.ts";
import { oneOf, parseSearch, searchOf, stringifySearch, text } from "./search.ts";

function pageAt(address: PageAddress): RouteComponent {
  const load = pageLoader(address);
  return load === undefined ? Nothing : lazyRouteComponent(load, "Page");
}

const root = createRootRoute({
  component: Frame,
  notFoundComponent: Nothing,
  errorComponent: PageError,
  validateSearch: (given): { env?: string } => searchOf({ env: text })(given) as { env?: string },
  // Unless it is the default one, the environment rides along.
  search: { middlewares: [retainSearchParams(["env"])] },
});

const parent = () => root;
const time = { since: text, until: text };

const home = createRoute({
  getParentRoute: parent,
  path: "/",
  component: pageAt("/"),
  validateSearch: searchOf({ range: oneOf("1h", "24h", "7d") }),
});

const runs = createRoute({
  getParentRoute: parent,
  path: "/runs",
  component: pageAt("/runs"),
  validateSearch: searchOf({
    group: oneOf("key", "function", "event", "none"),
    order: oneOf("attention", "newest", ...runOrders),
    cols: text,
    fn: text,
    state: oneOf("queued", "running", "waiting", "parked", "completed", "failed", "cancelled"),
    ...time,
    key: text,
    event: text,
    q: text,
    cel: text,
    show: oneOf("doubled", "suppressed", "failed", "no-worker"),
    by: oneOf("ended"),
    open: text,
  }),
});

const run = createRoute({
  getParentRoute: parent,
  path: "/runs/$run",
  component: pageAt("/runs/$run"),
  validateSearch: searchOf({
    step: text,
    attempt: text,
    tab: oneOf("outcome", "input", "attempts", "logs"),
    unfold: oneOf("1"),
    view: oneOf("table"),
    steps: oneOf("all", "slow", "failed"),
    find: text,
    from: text,
    to: text,
  }),
});

const compare = createRoute({
  getParentRoute: parent,
  path: "/runs/$run/compare/$other",
  component: pageAt("/runs/$run/compare/$other"),
});

const events = createRoute({
  getParentRoute: parent,
  path: "/events",
  component: pageAt("/events"),
  validateSearch: searchOf({ name: text, value: text, fn: text, outcome: oneOf(...eventOutcomes), ...time }),
});
const event = createRoute({ getParentRoute: parent, path: "/events/$event", component: pageAt("/events/$event") });
const newEvent = createRoute({
  getParentRoute: parent,
  path: "/events/new",
  component: pageAt("/events/new"),
  validateSearch: searchOf({ name: text, saved: text, from: text }),
});

const keys = createRoute({
  getParentRoute: parent,
  path: "/keys",
  component: pageAt("/keys"),
  validateSearch: searchOf({
    scope: text,
    layer: oneOf(...keyLayers),
    q: text,
    order: oneOf("hits", "ends", "key"),
  }),
});
const key = createRoute({ getParentRoute: parent, path: "/keys/$claim", component: pageAt("/keys/$claim") });

const functions = createRoute({
  getParentRoute: parent,
  path: "/functions",
  component: pageAt("/functions"),
  validateSearch: searchOf({ verdict: oneOf(...verdictFilters), key: oneOf("missing") }),
});
const fn = createRoute({
  getParentRoute: parent,
  path: "/functions/$fn",
  component: pageAt("/functions/$fn"),
  validateSearch: searchOf({ range: oneOf("1h", "24h", "7d", "30d") }),
});
const line = createRoute({
  getParentRoute: parent,
  path: "/functions/$fn/line",
  component: pageAt("/functions/$fn/line"),
});
const workers = createRoute({ getParentRoute: parent, path: "/workers", component: pageAt("/workers") });
const apps = createRoute({ getParentRoute: parent, path: "/apps", component: pageAt("/apps") });

const webhooks = createRoute({ getParentRoute: parent, path: "/webhooks", component: pageAt("/webhooks") });
const webhook = createRoute({
  getParentRoute: parent,
  path: "/webhooks/$source",
  component: pageAt("/webhooks/$source"),
});

const radar = createRoute({ getParentRoute: parent, path: "/radar", component: pageAt("/radar") });
const alert = createRoute({
  getParentRoute: parent,
  path: "/radar/alerts/$alert",
  component: pageAt("/radar/alerts/$alert"),
});
const suggestion = createRoute({
  getParentRoute: parent,
  path: "/radar/suggestions/$fn",
  component: pageAt("/radar/suggestions/$fn"),
});
const rules = createRoute({ getParentRoute: parent, path: "/radar/rules", component: pageAt("/radar/rules") });
const history = createRoute({ getParentRoute: parent, path: "/radar/history", component: pageAt("/radar/history") });

const explain = createRoute({
  getParentRoute: parent,
  path: "/explain",
  component: pageAt("/explain"),
  validateSearch: searchOf({ q: text, as: oneOf("run", "event", "key", "entity"), fn: text }),
});
const audit = createRoute({
  getParentRoute: parent,
  path: "/audit",
  component: pageAt("/audit"),
  validateSearch: searchOf({ q: text, since: text, action: text, actor: text, subject: text }),
});
const settings = createRoute({ getParentRoute: parent, path: "/settings", component: pageAt("/settings") });
const login = createRoute({
  getParentRoute: parent,
  path: "/login",
  component: pageAt("/login"),
  validateSearch: searchOf({ to: text }),
});

const routeTree = root.addChildren([
  home,
  runs,
  run,
  compare,
  events,
  newEvent,
  event,
  keys,
  key,
  functions,
  fn,
  line,
  workers,
  apps,
  webhooks,
  webhook,
  radar,
  alert,
  suggestion,
  rules,
  history,
  explain,
  audit,
  settings,
  login,
]);

export const router = createRouter({
  routeTree,
  basepath: basePath,
  parseSearch,
  stringifySearch,
  // Back and forward come back to the same place of the same rows.
  scrollRestoration: true,
  defaultPreload: "intent",
  defaultErrorComponent: PageError,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
