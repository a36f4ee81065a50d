// One window of the browser with the console in it, and everything that must not happen in it.
import axe, { type RunOptions } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from '#jest';

export interface ConsoleWindow {
  readonly page: Page;
  /** Requests to other origins, errors and warnings of the console, failed checks of the content policy. */
  readonly faults: readonly string[];
  /** What a reader with weak eyes, without a mouse or with a screen reader meets, of one rule or of all: `rule: element`. */
  findBarriers(rule?: string): Promise<readonly string[]>;
  /** Whether something is wider than the window. */
  isTooWide(): Promise<boolean>;
  close(): Promise<void>;
}

export interface WindowOptions {
  /** Origins beside that of the console, where people are sent; what their pages do is theirs. */
  readonly others?: readonly string[];
  /** The language that the browser itself was started with, in place of English. */
  readonly hasOwnLanguage?: boolean;
}

/** Of one step: a machine that stands still for a while is no fault. */
const waitMaxMs = 120_000;

/** Each has its own session. */
export async function openWindow(
  browser: Browser,
  origin: string,
  { others = [], hasOwnLanguage = false }: WindowOptions = {},
): Promise<ConsoleWindow> {
  const context = await browser.newContext({
    baseURL: origin,
    ...(hasOwnLanguage ? {} : { locale: 'en-US' }),
    viewport: { width: 1200, height: 800 },
  });
  context.setDefaultTimeout(waitMaxMs);
  const page = await context.newPage();
  const faults: string[] = [];
  const isOther = (url: string) => others.some((other) => url.startsWith(`${other}/`));
  page.on('console', (message) => {
    // An answer that is an error belongs to some tests; the browser notes each.
    const isAnswer = message.text().startsWith('Failed to load resource');
    const isOfOther = isOther(page.url());
    if (['error', 'warning'].includes(message.type()) && !isAnswer && !isOfOther) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    const isOfOther = isOther(url) || (!request.isNavigationRequest() && isOther(request.frame().url()));
    if (!url.startsWith(`${origin}/`) && !isOfOther) faults.push(`request to ${request.url()}`);
  });
  return {
    page,
    faults,
    async findBarriers(rule) {
      if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source);
      const options: RunOptions = { resultTypes: ['violations'], ...(rule === undefined ? {} : { runOnly: [rule] }) };
      const found = 'violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160)))';
      return page.evaluate<string[]>(`axe.run(${JSON.stringify(options)}).then(({ violations }) => ${found})`);
    },
    isTooWide: () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'),
    close: () => context.close(),
  };
}

export interface Windows {
  /** Since the last close. */
  readonly opened: readonly ConsoleWindow[];
  open(origin: string, options?: WindowOptions): Promise<ConsoleWindow>;
  /** After each test. Fails where something has happened in one of them that must not. */
  close(): Promise<void>;
}

export function watchWindows(browser: Browser): Windows {
  const windows: ConsoleWindow[] = [];
  return {
    opened: windows,
    async open(origin, options) {
      const window = await openWindow(browser, origin, options);
      windows.push(window);
      return window;
    },
    async close() {
      const closed = windows.splice(0);
      for (const window of closed) await window.close();
      expect(closed.flatMap(({ faults }) => faults)).toEqual([]);
    },
  };
}
