// The console in a real browser: one for all of its suites, because a start takes a second of processor time. If
// Chromium does not start, a line says so, and nothing of the console is tested.
import { afterAll, describe, expect, it } from '#jest';
import { startChromium } from './chromium.ts';
import { testConsole } from './console.ts';
import { testUse } from './console-use.ts';
import { testSignIn } from './sign-in.ts';

const browser = await startChromium();

if (typeof browser === 'string') {
  const notRun = `the console was not opened in a browser: ${browser}`;
  process.stderr.write(`${notRun}\n`);
  it(notRun, () => expect(browser).toMatch(/^Chromium /));
} else {
  describe('in a browser', () => {
    afterAll(() => browser.close());
    testConsole(browser);
    testUse(browser);
    testSignIn(browser);
  });
}
