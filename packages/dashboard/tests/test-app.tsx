// The whole dashboard in a document without a browser, over a server made of recorded responses. What needs layout, a real stream or a
// real keyboard is looked at by the integration tests.
import { cleanup, configure, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, onTestFinished, vi } from "vitest";
import type { LiveDigest } from "../../idem/src/server/live/digest-shape.ts";
import type { PageAddress } from "../src/pages.ts";
import { RecordedServer, record } from "./recorded-server.ts";
import { replaceCharts } from "./replace-charts.ts";

/** A stream of news that a test speaks through. */
class TestStream extends EventTarget {
  static opened: TestStream[] = [];
  static readonly CLOSED = 2;
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  constructor() {
    super();
    TestStream.opened.push(this);
    queueMicrotask(() => this.onopen?.());
  }
  close(): void {
    this.readyState = TestStream.CLOSED;
  }
}

// happy-dom has no layout: every element is 900 px wide and nothing scrolls.
async function prepareWindow(): Promise<void> {
  Object.assign(globalThis, { EventSource: TestStream });
  Object.assign(Element.prototype, { scrollIntoView: () => {} });
  Object.defineProperty(HTMLElement.prototype, "clientWidth", { get: () => 900, configurable: true });
  window.scrollTo = () => {};
  window.scrollBy = () => {};
  await replaceCharts();
  // React makes an error for each element, to know where it was made: with the hundred lines that vitest asks for, a quarter of the time.
  Error.stackTraceLimit = 10;
}

export interface TestApp {
  readonly server: RecordedServer;
  readonly user: ReturnType<typeof userEvent.setup>;
  /** Where the app is: path and search. */
  readonly address: () => URL;
  /** The stream says that something changed. */
  readonly digest: (over?: Partial<LiveDigest>) => void;
  readonly main: () => HTMLElement;
}

/** A wait looks many times and throws as often; only the last message is read. */
const wordsOnDemand = (message: string): Error =>
  Object.defineProperty(new Error(message), "message", {
    get: () => `${message} The page says: ${textsOf("body").join()}`,
  });

configure({
  // As long as a busy machine may take; nothing waits for it to pass.
  asyncUtilTimeout: 10_000,
  // Whether an element can be seen is a question of styles, and asked of a browser.
  defaultHidden: true,
  // The words of the page say more than its elements.
  getElementError: (message) => wordsOnDemand(`${message?.split("\n")[0]}`),
});

let isPrepared = false;

/** Opens an address of the dashboard; `prepare` says what the server responds other than what is recorded. */
export async function openApp(path: string, prepare: (server: RecordedServer) => void = () => {}): Promise<TestApp> {
  if (!isPrepared) await prepareWindow();
  const { App, newQueries, startListening } = await import("../src/app.tsx");
  const { router } = await import("../src/routes.tsx");
  const { changeSettings } = await import("../src/settings.ts");
  if (!isPrepared) {
    startListening();
    // A page that is still on its way when a file of tests ends would never come for the next one.
    const { pageFiles, pageLoader } = await import("../src/pages.ts");
    await Promise.all((Object.keys(pageFiles) as PageAddress[]).map((address) => pageLoader(address)!()));
  }
  isPrepared = true;
  localStorage.clear();
  changeSettings({ theme: "system", density: "comfortable", zone: "utc", letterKeys: true });
  const server = new RecordedServer(new URL(path, location.href).pathname);
  prepare(server);
  vi.stubGlobal("fetch", server.fetch);
  // React says there what a page does wrong; it knows more elements than the document.
  vi.spyOn(console, "error").mockImplementation((...words) => {
    if (!/The tag <%s> is unrecognized/.test(String(words[0]))) server.troubles.push(words.map(String).join(" "));
  });
  const queries = newQueries();
  // That of the test before waits for a page that is gone.
  router.startTransition = async (change) => {
    change();
    return true;
  };
  router.history.push(path);
  await router.load();
  render(<App queries={queries} />);
  onTestFinished(() => {
    queries.clear();
    expect(server.troubles.join("\n")).toBe("");
  });
  const digest: TestApp["digest"] = (over = {}) => {
    const data: LiveDigest = {
      at: record.recordedAt,
      counts: { accepted: 1, started: 1, suppressed: 0, ended: 1, failed: 0 },
      groups: [],
      isCut: true,
      registration: 0,
      alerts: { open: 0, new: [] },
      ...over,
    };
    const stream = TestStream.opened.findLast(({ readyState }) => readyState === 1);
    stream?.dispatchEvent(new MessageEvent("digest", { data: JSON.stringify(data) }));
  };
  return {
    server,
    user: userEvent.setup({ delay: null }),
    address: () => new URL(router.state.location.href, "http://127.0.0.1"),
    digest,
    main: () => document.querySelector("main")!,
  };
}

/** To be called at the top of a file of component tests: the clock stands where the responses were recorded. */
export function stopClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: record.recordedAt });
  });
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
}

const textOf = (element: Element): string => (element.textContent ?? "").replaceAll(/\s+/g, " ").trim();

/** The texts of all elements of a selector, with single spaces. */
export const textsOf = (selector: string, inside: ParentNode = document): string[] =>
  [...inside.querySelectorAll(selector)].map(textOf);

/** The text of the first element of a selector, once it is there. */
export const textAt = (selector: string): Promise<string> =>
  waitFor(() => {
    const found = document.querySelector(selector);
    if (found === null) throw new Error(`There is no ${selector}`);
    return textOf(found);
  });

/** Waits for a text anywhere in the page, across elements. */
export const findWords = (words: string | RegExp, selector = "body"): Promise<void> =>
  waitFor(() => {
    const all = textsOf(selector).join("\n");
    if (typeof words === "string" ? !all.includes(words) : !words.test(all)) throw new Error(`No "${words}" there.`);
  });

/** The open dialog. */
export const findDialog = async () => {
  const dialog = await waitFor(() => {
    const found = document.querySelector<HTMLElement>("dialog[open]");
    if (found === null) throw new Error("No dialog is open");
    return found;
  });
  return { dialog, ...within(dialog), text: () => textOf(dialog) };
};

export { record, screen, waitFor, within };
