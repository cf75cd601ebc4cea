// A real Chromium, one for each process of tests: its pages are lent to a test and taken back, because a renderer costs more to start
// than most tests cost to run. Every page is watched: a script that broke, a request to elsewhere or something the page's policy
// refused fails the test that looks at it. A test that fails leaves a picture of its pages and what they logged in test-results/.
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, errors, type Page, chromium as playwright } from "playwright-core";
import { onTestFinished, type TestContext, vi } from "vitest";

export interface Look {
  readonly width: 1280 | 390;
  readonly theme: "light" | "dark";
}

export const allLooks: readonly Look[] = [
  { width: 1280, theme: "light" },
  { width: 390, theme: "dark" },
  { width: 1280, theme: "dark" },
  { width: 390, theme: "light" },
];

/** Both themes and both sizes in two looks; with ALL_LOOKS=1 the four of them. */
export const looks: readonly Look[] = process.env.ALL_LOOKS === "1" ? allLooks : allLooks.slice(0, 2);

// Options for a small function in the cloud, not for a test: one process for all falls with its first closed page, without web security
// the rules under test would not hold, and a graphics card made of software draws slower than none (850 ms of processor for a page
// that takes 700 ms without).
const unwanted =
  /^--(single-process|no-zygote|disable-web-security|allow-running-insecure-content|disable-site-isolation-trials|use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu-blocklist|in-process-gpu)/;

const launch = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((each) => !unwanted.test(each)), "--disable-gpu", "--hide-scrollbars"],
    headless: true,
  });

// Ends with its process.
let launched: Promise<Browser> | undefined;
const theBrowser = (): Promise<Browser> => {
  launched ??= launch();
  return launched;
};

export interface WatchedPage extends Page {
  /** Errors behind the scenes since it was opened. */
  readonly troubles: readonly string[];
}

interface Watch {
  readonly width: Look["width"];
  origin: string;
  readonly troubles: string[];
  /** Everything the page said, and the requests that went wrong. */
  readonly log: string[];
}

const watches = new WeakMap<Page, Watch>();
/** A page is a telephone's or a desk's for good: one of them has a finger and nothing that hovers. */
const idle: Readonly<Record<Look["width"], WatchedPage[]>> = { 390: [], 1280: [] };

async function newPage(width: Look["width"]): Promise<WatchedPage> {
  const context = await (await theBrowser()).newContext({
    deviceScaleFactor: 1,
    reducedMotion: "reduce",
    hasTouch: width === 390,
    timezoneId: "Europe/Amsterdam",
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const watch: Watch = { width, origin: "", troubles: [], log: [] };
  page.on("pageerror", (error) => {
    watch.troubles.push(`script: ${error.message}`);
    watch.log.push(`script: ${error.stack ?? error.message}`);
  });
  page.on("requestfailed", (request) =>
    watch.log.push(`failed: ${request.method()} ${request.url()}: ${request.failure()?.errorText ?? ""}`),
  );
  page.on("response", (response) => {
    if (response.status() >= 400)
      watch.log.push(`${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  page.on("console", (message) => {
    watch.log.push(`${message.type()}: ${message.text()}`);
    // A refused request is the page's business: it says so in words.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      watch.troubles.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== watch.origin && !/^(data|blob|about):/.test(request.url()))
      watch.troubles.push(`elsewhere: ${request.url()}`);
  });
  watches.set(page, watch);
  return Object.assign(page, { troubles: watch.troubles });
}

/** A page that nobody has used, as far as it can tell; the opener closes it. */
export async function openPage(url: string, look: Look = looks[0]!): Promise<WatchedPage> {
  const page = idle[look.width].pop() ?? (await newPage(look.width));
  const watch = watches.get(page)!;
  watch.origin = new URL(url).origin;
  watch.troubles.length = 0;
  watch.log.length = 0;
  await wear(page, look);
  await page.goto(url);
  return page;
}

/** Takes the page back: nothing of what was done in it is there for the next. */
export async function closePage(page: WatchedPage): Promise<void> {
  if (page.isClosed()) return;
  const tabs = page.context().pages();
  await Promise.all(tabs.filter((each) => each !== page).map((each) => each.close()));
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.context().clearCookies();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.mouse.move(0, 0);
  // Things the page itself began to load may still come in between.
  await vi.waitFor(() => page.goto("about:blank"), { timeout: 60_000 });
  idle[watches.get(page)!.width].push(page);
}

/** A page for the test that runs, which closes it at its end. */
export async function visit(url: string, look?: Look): Promise<WatchedPage> {
  const page = await openPage(url, look);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") await explainFailure(page, task);
    await closePage(page);
  });
  return page;
}

const resultsFolder = join(import.meta.dirname, "..", "..", "..", "test-results");

/** Leaves a picture of the page, its address and its log in a folder that the failure names. */
async function explainFailure(page: WatchedPage, task: TestContext["task"]): Promise<void> {
  const { log, width } = watches.get(page)!;
  const name = `${task.file.name
    .split("/")
    .at(-1)!
    .replace(/\.integration\.test\.ts$/, "")} ${task.name}`;
  const folder = join(resultsFolder, name.replaceAll(/[^\w]+/g, "-").slice(0, 120));
  // A test may look at several pages: each has its own files.
  const place = `${width}-${page.context().pages().length}-${log.length}`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${place}.log`), `${page.url()}\n\n${log.join("\n")}\n`);
  await page.screenshot({ path: join(folder, `${place}.png`), fullPage: true }).catch(() => {});
  const told = `\n\nThe page as it was is in ${relative(process.cwd(), folder)}/`;
  for (const error of task.result?.errors ?? []) if (!error.message.includes(told)) error.message += told;
}

/** The same page in another size and theme; quicker than opening it anew. */
export async function wear(page: Page, { width, theme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: width === 1280 ? 800 : 844 });
  await page.emulateMedia({ colorScheme: theme });
}

/**
 * True when something reaches over the right edge: the page would scroll sideways. What is drawn anew for another width takes its moment on a busy
 * machine; what reaches over after that is named.
 */
export async function scrollsSideways(page: Page): Promise<boolean> {
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  try {
    await page.waitForFunction(fits, undefined, { timeout: 5_000 });
    return false;
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
  }
  const over = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const all = [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > width);
    return all.map((each) => `${each.tagName.toLowerCase()}.${each.className}`);
  });
  console.error(`reaches over the right edge: ${over.join(", ")}`);
  return true;
}
