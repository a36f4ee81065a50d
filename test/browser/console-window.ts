// One window of the browser with the console in it, and every event that must not happen in it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RunOptions } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from '#jest';

export interface ConsoleWindow {
  readonly page: Page;
  /**
   * The list has requests to other origins, errors and warnings of the console, and failed checks of the content
   * policy.
   */
  readonly faults: string[];
  /** Returns accessibility faults as `rule: element`, of the open dialog if there is one. */
  findBarriers(): Promise<readonly string[]>;
  /** Returns the accessibility faults of the light and of the dark page. */
  findAllBarriers(): Promise<readonly string[]>;
  /** Returns whether an element is wider than the window. */
  isTooWide(): Promise<boolean>;
  close(): Promise<void>;
}

export interface WindowOptions {
  /** Other origins that the console leads to; faults of their pages do not count. */
  readonly others?: readonly string[];
  /** Whether the window has the language with which the browser itself was started, in place of English. */
  readonly hasOwnLanguage?: boolean;
}

/** This wait is long, because a busy machine that pauses is no fault. */
const waitMaxMs = 120_000;

/** The minified file is less than half as long as the package's main file, and each page loads it again. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const usualSize = { width: 1200, height: 800 };

/** Opens a window with a session of its own. */
export async function openWindow(
  browser: Browser,
  origin: string,
  { others = [], hasOwnLanguage = false }: WindowOptions = {},
): Promise<ConsoleWindow> {
  const context = await browser.newContext({
    baseURL: origin,
    ...(hasOwnLanguage ? {} : { locale: 'en-US' }),
    viewport: usualSize,
  });
  context.setDefaultTimeout(waitMaxMs);
  const page = await context.newPage();
  const faults: string[] = [];
  const isOther = (url: string) => others.some((other) => url.startsWith(`${other}/`));
  page.on('console', (message) => {
    // Some tests expect an error as an answer, and the browser logs each one of them.
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
  async function findBarriers(rule?: string): Promise<readonly string[]> {
    if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe);
    const options: RunOptions = { resultTypes: ['violations'], ...(rule === undefined ? {} : { runOnly: [rule] }) };
    const violationCode =
      'violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160)))';
    // Users cannot reach content behind a dialog.
    const dialogCode = 'document.querySelector("dialog[open]") ?? document';
    return page.evaluate<string[]>(
      `axe.run(${dialogCode}, ${JSON.stringify(options)}).then(({ violations }) => ${violationCode})`,
    );
  }
  return {
    page,
    faults,
    findBarriers: () => findBarriers(),
    async findAllBarriers() {
      const inLight = await findBarriers();
      await page.emulateMedia({ colorScheme: 'dark' });
      // Dark mode changes colours only.
      const inDark = await findBarriers('color-contrast');
      await page.emulateMedia({ colorScheme: 'light' });
      return [...inLight, ...inDark];
    },
    isTooWide: () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'),
    close: () => context.close(),
  };
}

export interface Windows {
  /** The windows that were opened since the last close. */
  readonly opened: readonly ConsoleWindow[];
  /**
   * Without options, returns the shared window of the file as the test before left it, because a new browser context
   * takes long to begin.
   */
  open(origin: string, options?: WindowOptions): Promise<ConsoleWindow>;
  /** Closes the windows after each test. Fails if a fault was noted in one of them. */
  close(): Promise<void>;
}

export function watchWindows(browser: Browser): Windows {
  const windows: ConsoleWindow[] = [];
  let shared: ConsoleWindow | undefined;
  return {
    opened: windows,
    async open(origin, options) {
      const window = (options === undefined ? shared : undefined) ?? (await openWindow(browser, origin, options));
      if (options === undefined) shared = window;
      if (!windows.includes(window)) windows.push(window);
      return window;
    },
    async close() {
      const closed = windows.splice(0);
      for (const window of closed) {
        if (window !== shared) await window.close();
        else {
          await window.page.unrouteAll();
          await window.page.setViewportSize(usualSize);
        }
      }
      expect(closed.flatMap(({ faults }) => faults.splice(0))).toEqual([]);
    },
  };
}
