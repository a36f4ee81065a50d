// The console in a real browser, against a gateway with real calls. If Chromium does not start, the suite prints a line
// that says so and tests nothing.
import type { Browser, Download, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import {
  createKey,
  createOperator,
  createWorkspace,
  readKeys,
  updateKey,
} from '../../shared/configuration/administration/index.ts';
import { fromWrittenKey, newApiKey, writtenKey } from '../../shared/configuration/keys/index.ts';
import { keySettings, type Setting, workspaceSettings } from '../../shared/configuration/settings/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { collect } from '../../shared/foundation/parallel/index.ts';
import { hello } from '../support/harness.ts';
import { allSet, samples, valueAt } from '../support/setting-samples.ts';
import { type ConsoleWindow, openWindow, type WindowOptions, watchWindows } from './console-window.ts';
import {
  hostile,
  hostileSession,
  hostileTag,
  hostileUnclosed,
  type ServedConsole,
  serveConsole,
} from './served-console.ts';

export function testConsole(browser: Browser): void {
  describe('the console', () => {
    let consolePage: ServedConsole;
    const windows = watchWindows(browser);
    beforeAll(async () => {
      consolePage = await serveConsole();
    });
    afterEach(() => windows.close());
    afterAll(async () => {
      await consolePage.stop();
    });

    const openWindowOf = (options?: WindowOptions) => windows.open(consolePage.origin, options);

    /** Opens this address as a signed-in operator. */
    async function open(query: string, options?: WindowOptions): Promise<ConsoleWindow> {
      const window = await openWindowOf(options);
      if (window.page.url().startsWith(`${consolePage.origin}/console?`)) await show(window.page, query);
      else await window.page.goto(`/console?${query}#key=${consolePage.operatorKey}`);
      await settle(window.page);
      return window;
    }

    const callOf = (model: string, key = consolePage.gateway.key) =>
      consolePage.gateway.post(hello(model), { authorization: `Bearer ${key}` });

    it('asks for an operator key, and says why another one does not open it', async () => {
      const { page, findAllBarriers, isTooWide } = await openWindowOf({});
      await page.goto('/console');
      await page.getByLabel('Operator key').waitFor();
      expect(await findAllBarriers()).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await isTooWide()).toBe(false);
      await page.getByLabel('Operator key').fill(consolePage.gateway.key);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('operator key').waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
      await page.getByLabel('Operator key').fill(consolePage.operatorKey);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Operator key').waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    });

    it('takes the key out of the address, and keeps it in the tab alone', async () => {
      const { page } = await open('view=keys', {});
      expect(page.url()).toBe(`${consolePage.origin}/console?view=keys`);
      await page.reload();
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
      await page.goBack();
      expect(page.url()).not.toContain('sk-gw');
    });

    it.each([
      ['overview', 'Overview', []],
      ['calls', 'Calls', []],
      ['workspaces', 'Workspaces', ['Make a workspace', 'Credit of workspace other', 'Change workspace team']],
      ['keys', 'Keys', ['Make a key', `Rotate key ${hostile} of other`, `Revoke key ${hostile} of other`]],
      ['operators', 'Operators', ['Make an operator key', 'Revoke operator key ada']],
      ['models', 'Models and providers', ['Details of listed/gpt-5.4', 'Disable provider acme']],
      ['functions', 'Functions', ['Make a function', 'disable label']],
      ['configuration', 'Configuration', []],
      ['playground', 'Playground', []],
    ])(
      'has the view %s and its dialogs: readable in light and dark, without a mouse, on one grid at every width',
      async (view, title, dialogs) => {
        const { page, findAllBarriers, isTooWide } = await open(`view=${view}`);
        await page.getByRole('heading', { name: title, level: 1 }).waitFor();
        expect(await page.title()).toBe(`${title} · gw console`);
        expect(await page.locator('nav a[aria-current=page]').textContent()).toBe(title);
        expect(await findAllBarriers()).toEqual([]);
        for (const width of [1200, 800, 390, 360]) {
          await page.setViewportSize({ width, height: 800 });
          expect([width, await isTooWide()]).toEqual([width, false]);
          const { stacked, ...lookDetails } = await look<
            Record<'edges' | 'heights' | 'alone' | 'ragged' | 'cut' | 'titled' | 'stacked', unknown[]>
          >(
            page,
            `
            const all = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
            const box = (one) => one.getBoundingClientRect();
            const lines = (of) => Map.groupBy([...of.children].filter((one) => one.checkVisibility()), (one) => Math.round(box(one).bottom));
            const cells = all('table[role] tbody td');
            return {
              edges: [...new Set(['header strong', 'h1'].map((one) => Math.round(box(document.querySelector(one)).left)))],
              heights: [...new Set(all('button:not(.sort, .fold), select, input:not([type=checkbox])').map((one) => box(one).height))],
              alone: all('.filters').flatMap((of) => [...lines(of).values()])
                .filter((line, at, every) => every.length > 1 && line.length === 1 && !line[0].matches('.actions')),
              ragged: all('.totals').filter((of) => Math.abs(box(of.lastElementChild).right - box(of).right) > 1),
              cut: all('.table').filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 80)),
              titled: all('time').filter((one) => !one.title.includes(one.dateTime) || one.textContent.length > 12),
              stacked: cells.filter((one) => !one.matches(':first-child') && getComputedStyle(one, '::before').content !== '"' + one.dataset.title + '"'),
            };`,
          );
          const one = [expect.any(Number)];
          expect([width, lookDetails]).toEqual([
            width,
            { edges: one, heights: one, alone: [], ragged: [], cut: [], titled: [] },
          ]);
          // Tables become lists on a phone.
          if (width < 400) expect(stacked).toEqual([]);
        }
        for (const name of dialogs) {
          await page.setViewportSize({ width: 1200, height: 800 });
          await page.getByRole('button', { name, exact: true }).first().click();
          const dialog = page.getByRole('dialog');
          await dialog.waitFor();
          expect(await findAllBarriers()).toEqual([]);
          for (const width of [1200, 360]) {
            await page.setViewportSize({ width, height: 800 });
            expect(await isTooWide()).toBe(false);
            // The button at the end of the dialog is in view too, however long the dialog is.
            for (const part of [dialog, dialog.locator('.actions button').last()]) {
              const { x, y, ...box } = (await part.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 };
              expect(x >= 0 && y >= 0 && x + box.width <= width && y + box.height <= 800).toBe(true);
            }
          }
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
        }
        expect(await page.locator('img').count()).toBe(0);
      },
    );

    it('aligns points, and keeps colours for what is main', async () => {
      const { page } = await open('view=overview');
      // These are the decimals of all amounts, padded to the same number of digits.
      const points = await look<string[][]>(
        page,
        `
        return [...document.querySelectorAll('table[role]')].map((table) => [...new Set([...table.querySelectorAll('td.number')]
          .filter((cell) => cell.textContent.startsWith('$'))
          .map((cell) => (cell.textContent + (cell.querySelector('[data-lacks]')?.dataset.lacks ?? '')).split('.')[1].length))]);`,
      );
      expect(points.map(({ length }) => length)).toEqual(points.map(() => 1));
      expect(points.length).toBeGreaterThan(2);
      expect(await look(page, 'return getComputedStyle(document.querySelector("td.number")).fontVariantNumeric')).toBe(
        'tabular-nums',
      );
      for (const [view, first, other] of [
        ['keys', 'Make a key', 'Revoke key first of team'],
        ['models', 'Refresh', 'Disable provider acme'],
        ['functions', 'Make a function', 'disable label'],
      ] as const) {
        await show(page, `view=${view}`);
        const colorsOf = (name: string) =>
          look<string>(
            page,
            `
            const isNamed = (one) => (one.ariaLabel ?? one.textContent) === ${JSON.stringify(name)};
            return getComputedStyle([...document.querySelectorAll('button')].find(isNamed)).color;`,
          );
        await page.getByRole('button', { name: other, exact: true }).waitFor();
        expect(await colorsOf(other)).not.toBe(await colorsOf(first));
      }
    });

    it('tells what is being read from what is empty, both as readable', async () => {
      const { page, findBarriers } = await open('view=keys');
      let go = () => {};
      const held = new Promise<void>((done) => {
        go = done;
      });
      await page.route('**/v1/manage/calls?*', async (route) => {
        await held;
        await route.continue();
      });
      await show(page, 'view=calls&model=no%2Fsuch');
      await page.getByRole('status').getByText('Reading …').waitFor();
      expect(await page.locator('.empty').count()).toBe(0);
      expect(await findBarriers()).toEqual([]);
      go();
      await page.locator('.empty').waitFor();
      expect(await findBarriers()).toEqual([]);
      expect(await page.getByText('Reading …').count()).toBe(0);
    });

    it('shows spend, calls, failures and latency of the time that is picked, which is in the address', async () => {
      const { page } = await open('view=overview');
      expect(await page.locator('canvas').count()).toBe(4);
      expect(await totalsOf(page)).toMatchObject({
        Calls: '5',
        Failed: '1 (20.0 %)',
        Refused: '1 (20.0 %)',
        Spend: expect.stringMatching(/^\$0\.0/),
      });
      await page.getByLabel('Time').selectOption('7d');
      await page.waitForURL(/since=7d/);
      await page.reload();
      await settle(page);
      expect(await page.getByLabel('Time').inputValue()).toBe('7d');
      expect(await totalsOf(page)).toMatchObject({ Calls: '5' });
      // A table lists the values of the plot for people who cannot see it: one row for each of eight days in UTC.
      await page.getByText('Values of Calls by day').click();
      expect(await page.locator('details[open] tbody tr').count()).toBe(8);
      // Groups by a tag's values; the tag's name is in the address too.
      await page.getByLabel('Group by tag').selectOption('team');
      await page.waitForURL(/tag=team/);
      await page.reload();
      const byTag = page.getByRole('table', { name: 'Calls by tag team' });
      await byTag.waitFor();
      expect(await namesAndCallsOf(byTag)).toEqual({ search: '1', [hostileTag]: '3', '–': '1' });
      await byTag.getByRole('link', { name: 'search' }).click();
      await expectRows(page, 1);
      expect(new URL(page.url()).searchParams.get('tag')).toBe('team=search');
      await page.goBack();
      await page.getByRole('link', { name: 'both/fallback' }).click();
      await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        view: 'calls',
        since: '7d',
        model: 'both/fallback',
      });
    });

    it('finds calls by filters that are in the address, and shows one call on its way through providers', async () => {
      const { page, findBarriers } = await open('view=calls');
      await expectRows(page, 5);
      await page.getByLabel('Outcome').selectOption('failed');
      await expectRows(page, 1);
      expect(page.url()).toContain('outcome=failed');
      await page.reload();
      await expectRows(page, 1);
      await page.goBack();
      await expectRows(page, 5);
      await page.getByText('More filters').click();
      await page.getByLabel('Code').fill('unknown_model');
      await page.keyboard.press('Enter');
      await expectRows(page, 1);
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV' }).click();
      expect((await download).suggestedFilename()).toBe('calls.csv');
      // Rows that do not fit into one answer follow in the next answer; the file has one line of titles.
      const [firstPart, lastPart] = ['outcome\r\nfirst\r\n', 'outcome\r\nsecond\r\n'] as const;
      await page.route('**/v1/manage/calls?*', (route) =>
        route.request().headers().accept !== 'text/csv'
          ? route.continue()
          : route.request().url().includes('before=more')
            ? route.fulfill({ body: lastPart })
            : route.fulfill({ body: firstPart, headers: { 'x-next-cursor': 'more' } }),
      );
      const parts = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV' }).click();
      expect(await textOf(await parts)).toBe('outcome\r\nfirst\r\nsecond\r\n');
      await page.unroute('**/v1/manage/calls?*');
      await page.goBack();
      await expectRows(page, 5);
      await page.getByLabel('Tag').fill(`team=${hostileTag}`);
      await page.keyboard.press('Enter');
      await expectRows(page, 3);
      await page.reload();
      await settle(page);
      await expectRows(page, 3);
      await page.getByLabel('Tag').fill('Team');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('must be a tag such as team=search').waitFor();
      await page.getByLabel('Tag').fill('');
      await page.keyboard.press('Enter');
      await expectRows(page, 5);
      await page.getByLabel('Model').fill('both/fallback');
      await page.keyboard.press('Enter');
      await expectRows(page, 1);
      expect(await rows(page).first().textContent()).toContain('globex status_500 → acme');
      await rows(page).first().getByRole('link').click();
      const attempts = page.getByRole('list', { name: 'Parts of the call in their order' }).getByRole('listitem');
      await attempts.nth(3).waitFor();
      const texts = await attempts.allTextContents();
      expect(texts).toEqual([
        expect.stringMatching(/^admission [\d,]+ ms$/),
        expect.stringMatching(/^globex ✗ status_500 [\d,]+ ms.*server_error/),
        expect.stringMatching(/^acme ✓ ok [\d,]+ ms/),
        expect.stringMatching(/^settlement [\d,]+ ms$/),
      ]);
      expect(await page.locator('.facts').textContent()).toContain('Tagsteam=search');
      expect(await findBarriers()).toEqual([]);
      await page.getByLabel('Views').getByRole('link', { name: 'Calls' }).click();
      await expectRows(page, 5);
    });

    it('shows the calls of a session in the order in which they came', async () => {
      for (const model of ['acme/echo', 'both/fallback', 'acme/slow']) {
        await (await consolePage.gateway.post(hello(model), { 'x-session-id': 's-in-order' })).text();
        await consolePage.gateway.settled();
      }
      const { page } = await open('view=calls&session=s-in-order');
      await expectRows(page, 3);
      const texts = await rows(page).allTextContents();
      expect(['acme/echo', 'both/fallback', 'acme/slow'].map((model, at) => texts[at]?.includes(model))).toEqual([
        true,
        true,
        true,
      ]);
    });

    it('shows a call as it comes while the list is live, its first output on its way, and why a schema was not met', async () => {
      const { page, findBarriers } = await open('view=calls&session=s-live', {});
      await page.getByText('No call').first().waitFor();
      // From here on only calls of `clock` advance the page's clock.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      const call = async (body: object) => {
        await (await consolePage.gateway.post(body, { 'x-session-id': 's-live' })).text();
        await consolePage.gateway.settled();
      };
      const live = page.getByRole('button', { name: 'Live' });
      await live.click();
      expect(await live.getAttribute('aria-pressed')).toBe('true');
      await page.clock.runFor(1_000);
      await call(hello('acme/slow', { stream: true }));
      expect(await rows(page).count()).toBe(0);
      await page.clock.runFor(5_000);
      await expectRows(page, 1);
      const schema = { type: 'object', properties: { label: { type: 'integer' } }, required: ['label'] };
      const response_format = { type: 'json_schema', json_schema: { name: 'label', strict: true, schema } };
      await call(hello('acme/mismatch', { response_format }));
      await page.clock.runFor(5_000);
      await expectRows(page, 2);
      await live.click();
      await call(hello('acme/echo'));
      await page.clock.runFor(20_000);
      await page.clock.resume();
      await settle(page);
      await expectRows(page, 2);
      const attempts = page.getByRole('list', { name: 'Parts of the call in their order' }).getByRole('listitem');
      await rows(page).nth(0).getByRole('link').first().click();
      await attempts.nth(2).waitFor();
      expect(await attempts.nth(1).textContent()).toMatch(/^acme ✓ ok .*First output after [\d.,]+ m?s/);
      expect(await page.locator('.first-output').count()).toBe(1);
      await expectPartsInPlace(page);
      await page.goBack();
      await rows(page).nth(1).getByRole('link').first().click();
      await attempts.nth(3).waitFor();
      await expectPartsInPlace(page);
      const reasons = (await attempts.allTextContents()).slice(1, -1);
      expect(reasons.length).toBeGreaterThan(1);
      for (const reason of reasons) expect(reason).toMatch(/The answer does not match the schema: \/.+/);
      expect(await findBarriers()).toEqual([]);
    });

    it('finds models, keys and calls by a text that is in the address, and shows what is more than a page behind it', async () => {
      const { composition } = consolePage.gateway;
      for (let at = 0; at < 52; at += 1) await createKey(composition, { workspace: 'team', name: `zz batch ${at}` });
      const { page } = await open('view=keys&search=BATCH');
      const namesOf = () => rows(page).locator('td:first-child a').allTextContents();
      await expectRows(page, 50);
      await page.getByRole('button', { name: 'More keys' }).click();
      await expectRows(page, 52);
      expect(new Set(await namesOf()).size).toBe(52);
      await page.getByLabel('Search').fill('ZZ BATCH 51');
      await page.keyboard.press('Enter');
      await expectRows(page, 1);
      expect(page.url()).toContain('search=ZZ+BATCH+51');
      await page.getByLabel('Show revoked and expired keys').check();
      await settle(page);
      expect(await namesOf()).toEqual(['zz batch 51']);
      await page.getByLabel('Search').fill('nothing has it');
      await page.keyboard.press('Enter');
      await page.getByText('No key has this text.').waitFor();
      await show(page, 'view=models&search=GPT');
      const models = page.getByRole('table', { name: 'Models', exact: true });
      await models.waitFor();
      expect(await models.locator('td:first-child a').allTextContents()).toEqual(['listed/gpt-5.4']);
      await show(page, 'view=calls&search=X/FAILING');
      await settle(page);
      await expectRows(page, 1);
      expect(await rows(page).first().textContent()).toContain('globex/failing');
      for (const { publicId, name } of await readKeys(composition, 'team')) {
        if (name.startsWith('zz')) await updateKey(composition, publicId, { status: 'revoked' });
      }
    });

    it('shows what callers paid themselves apart, the workspace of each call, and its numbers in one line of a phone', async () => {
      const { gateway } = consolePage;
      const [record] = await gateway.records();
      if (record === undefined) throw new Error('there is no call');
      // This time is so long ago that no other test reads it.
      const arrivedAtMs = record.arrivedAtMs - 20 * 86_400_000;
      const paid = { ...record, isByok: true, costPicoUsd: 2_000_000_000_000n, arrivedAtMs };
      await gateway.composition.records.write({ ...paid, executionId: 'paid-by-its-caller' });
      const { page, isTooWide } = await open('view=overview&since=30d');
      const totals = await totalsOf(page);
      expect(totals['Paid by callers (BYOK)']).toBe('$2.00');
      expect(Number(totals.Spend?.slice(1))).toBeLessThan(2);
      await show(page, 'view=overview');
      await settle(page);
      expect(await totalsOf(page)).not.toHaveProperty('Paid by callers (BYOK)');
      await show(page, 'view=calls&since=30d&search=BY-ITS-CALLER');
      await expectRows(page, 1);
      expect(await page.getByRole('cell', { name: '$2.00 BYOK' }).count()).toBe(1);
      expect(await page.locator('td[data-title=Workspace]').textContent()).toBe(record.workspace);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await isTooWide()).toBe(false);
      const lines = await look<number[]>(
        page,
        "return [...document.querySelectorAll('td.number')].map((one) => Math.round(one.getBoundingClientRect().top));",
      );
      expect([lines.length, new Set(lines).size]).toEqual([3, 1]);
    });

    it('says what to do if there is nothing, and if the gateway cannot be reached', async () => {
      const { page, findAllBarriers } = await open('view=calls&model=no%2Fsuch');
      await page.getByText('No call matches. Take a filter away or pick a longer time.').waitFor();
      await show(page, 'view=call&id=nothing');
      await page.getByRole('alert').getByText('not_found').waitFor();
      await page.route('**/v1/manage/overview*', (route) => route.abort());
      await show(page, 'view=overview');
      await page.getByText('The gateway could not be reached').waitFor();
      expect(await findAllBarriers()).toEqual([]);
      await page.unroute('**/v1/manage/overview*');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.locator('canvas').first().waitFor();
    });

    it('shows what comes from outside as text in every view, in a browser whose own language is no language tag', async () => {
      const { page } = await openWindowOf({ hasOwnLanguage: true });
      await page.addInitScript('globalThis.languageAtStart = navigator.language');
      const { text: operatorKey } = await createOperator(consolePage.gateway.composition, `${hostile} ada`);
      await page.goto(`/console?view=overview&tag=team#key=${operatorKey}`);
      await settle(page);
      expect(await page.evaluate('globalThis.languageAtStart')).toBe('en-US@posix');
      expect(await page.locator('canvas').count()).toBe(4);
      await page.locator('header').getByText(`${hostile} ada`).waitFor();
      const headers = { 'x-session-id': hostileSession, 'x-gw-tags': `team=${hostileTag}`, 'x-title': hostile };
      expect((await consolePage.gateway.post(hello('quoting/refused', { user: hostile }), headers)).status).toBe(400);
      await consolePage.gateway.settled();
      await show(page, 'view=calls&model=quoting%2Frefused');
      await rows(page).first().getByRole('link').first().click();
      await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
      const callAddress = new URL(page.url()).search.slice(1);
      const views = {
        'view=overview&tag=team': [hostile, hostileTag],
        'view=calls': [hostile],
        [`view=calls&session=${encodeURIComponent(hostileSession)}`]: ['quoting/refused'],
        [callAddress]: [`Refused: ${hostile}`, `Refused: ${hostileUnclosed}`, hostileSession, `team=${hostileTag}`],
        'view=workspaces': ['other'],
        'view=keys&revoked=shown': [hostile, `note=${hostileTag}`],
        'view=models': [hostile],
        'view=functions': ['gw/function/quoted'],
        'view=function&workspace=other&id=quoted': [`${hostile} {{input}}`],
        'view=configuration': [hostile, hostileTag],
      };
      for (const [address, texts] of Object.entries(views)) {
        await show(page, address);
        await settle(page);
        const pageText = await page.evaluate<string>(
          `[document.querySelector('main'), ...document.querySelectorAll('textarea, input')].map((one) => one.value ?? one.textContent).join()`,
        );
        for (const text of texts) expect([address, pageText]).toEqual([address, expect.stringContaining(text)]);
        expect([address, await page.locator('img').count()]).toEqual([address, 0]);
      }
      // A provider's error text passes through the gateway.
      await show(page, 'view=playground&model=quoting%2Frefused');
      await page.getByLabel('API key').fill(consolePage.gateway.key);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('alert').getByText(hostile).waitFor();
      expect(await page.locator('img').count()).toBe(0);
    });

    it('stops a call that runs, keeps what came of it, and says what is charged', async () => {
      const { page } = await open('view=playground&model=acme%2Fstalling');
      await page.getByLabel('API key').fill(consolePage.gateway.key);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('.answer').getByText('Hello!').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('alert').getByText('charges what it reads').waitFor();
      const answerText = await page.locator('.answer').textContent();
      expect(answerText).toContain('Hello!');
      expect(answerText).not.toContain('simulated by the provider');
      expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
    });

    it('makes a key that works and is shown once, changes it, and revokes it', async () => {
      const { page, findAllBarriers, isTooWide } = await open('view=keys');
      await page.getByRole('button', { name: 'Make a key' }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Workspace').selectOption('team');
      await page.getByLabel('Name').fill(`${hostile} ci`);
      await page.getByLabel('Spend limit in USD').fill('2.50');
      await page.getByLabel('Tags', { exact: true }).fill('team=search, feature=rerank');
      await page.keyboard.press('Enter');
      const newKey = (await page.getByLabel('The new key').locator('code').textContent()) ?? '';
      expect((await callOf('acme/echo', newKey)).status).toBe(200);
      expect(await findAllBarriers()).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await isTooWide()).toBe(false);
      await page.setViewportSize({ width: 1200, height: 800 });
      await page.reload();
      const row = page.getByRole('row').filter({ hasText: `${hostile} ci` });
      await row.getByText('$2.50').waitFor();
      await row.getByText('team=search').waitFor();
      expect((await consolePage.gateway.keyItem(newKey)).tags).toEqual({ team: 'search', feature: 'rerank' });
      expect(await page.content()).not.toContain(newKey);

      await row.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Requests per minute').fill('1');
      // A tag name that occurs twice would lose one of its values.
      await page.getByLabel('Tags', { exact: true }).fill('team=ads, team=search');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.locator('input:invalid').getAttribute('name')).toBe('tags');
      await page.getByLabel('Tags', { exact: true }).fill('team=ads');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect((await consolePage.gateway.keyItem(newKey)).requests_per_minute).toBe(1);
      expect((await consolePage.gateway.keyItem(newKey)).spend_limit_usd).toBe('2.5');
      expect((await consolePage.gateway.keyItem(newKey)).tags).toEqual({ team: 'ads' });

      await row.getByRole('button', { name: 'Revoke' }).click();
      // The dialog says who loses access.
      await page.getByRole('heading', { name: `Revoke key ${hostile} ci of team?` }).waitFor();
      await page.getByRole('list', { name: 'Who called it' }).getByText(`${hostile} ci of team: 1 call`).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect((await consolePage.gateway.keyItem(newKey)).status).toBe('active');
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.waitFor({ state: 'detached' });
      expect((await callOf('acme/echo', newKey)).status).toBe(401);
      await page.getByLabel('Show revoked and expired keys').check();
      await row.getByText('revoked').waitFor();
    });

    it('rotates a key: both work, and the former one is shown as ending', async () => {
      const { page } = await open('view=keys');
      const row = page.getByRole('row').filter({ hasText: hostile }).first();
      await row.getByRole('button', { name: 'Rotate' }).click();
      await page.getByLabel('The former key ends').selectOption('1h');
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      const newKey = (await page.getByLabel('The new key').locator('code').textContent()) ?? '';
      expect((await callOf('acme/echo', newKey)).status).toBe(200);
      await page.getByRole('row').filter({ hasText: hostile }).getByText('ending', { exact: true }).waitFor();
    });

    it('makes an operator key that is shown once, and is in no table, address, line of the log or store; then ends it', async () => {
      const { gateway } = consolePage;
      const at = gateway.logLines.length;
      const { page, findAllBarriers } = await open('view=operators');
      const requests: string[] = [];
      page.on('request', (request) => requests.push(`${request.url()} ${request.postData()}`));
      await page.getByRole('button', { name: 'Make an operator key' }).click();
      await page.getByLabel('Name').fill(`${hostile} eve`);
      await page.getByLabel('Role').selectOption('editor');
      await page.getByLabel('Add to Workspaces').selectOption('other');
      expect(await page.getByLabel('Workspaces', { exact: true }).inputValue()).toBe('other');
      await page.getByLabel('Name').focus();
      await page.keyboard.press('Enter');
      const newKey = (await page.getByLabel('The new key').locator('code').textContent()) ?? '';
      const secret = newKey.slice(-49, -6);
      expect(secret).toHaveLength(43);
      const row = page.getByRole('row').filter({ hasText: `${hostile} eve` });
      await row.getByText('other', { exact: true }).waitFor();
      expect(await row.textContent()).not.toContain(secret);
      expect(await findAllBarriers()).toEqual([]);
      const { page: eve } = await openWindowOf({});
      await eve.goto(`/console?view=operators#key=${newKey}`);
      await eve.getByText('Your role does not open this view.').waitFor();
      expect(await eve.locator('nav').getByText('Operators').count()).toBe(0);
      await page.getByRole('button', { name: 'Hide it' }).click();
      expect(await page.content()).not.toContain(secret);
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      await row.getByText('active', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('revoked', { exact: true }).waitFor();
      await eve.reload();
      await eve.getByLabel('Operator key').waitFor();
      await gateway.settled();
      const storedItems = await collect(gateway.testStore.store.scan('operators'));
      const everything = [...requests, page.url(), ...gateway.logLines.slice(at), JSON.stringify(storedItems)].join(
        '\n',
      );
      expect(everything).toContain(newKey.slice(6, 22));
      expect(everything).not.toContain(secret);
    });

    it('makes a workspace, changes what is changed in the form and nothing else, and adds credit', async () => {
      const { page } = await open('view=workspaces');
      await page.getByRole('button', { name: 'Make a workspace' }).click();
      await page.getByLabel('Id', { exact: true }).fill('search');
      await page.getByLabel('Credit in USD').fill('5');
      await page.getByRole('button', { name: 'Make the workspace' }).click();
      await page.getByRole('button', { name: 'Change workspace search' }).click();
      const { workspaceStore } = consolePage.gateway.composition;
      // Another operator changes another field meanwhile.
      await workspaceStore.write({ id: 'search', spend_limit_usd: '9' });
      await page.getByLabel('Concurrent calls', { exact: true }).fill('4');
      await page.getByLabel('Only providers that keep nothing').check();
      await page.getByLabel('Keys that a member may make').fill('3');
      await page.getByLabel('Requests per minute of each of these keys').fill('60');
      await page.getByLabel('Each ends after').fill('30d');
      await page.getByLabel('Bodies of calls are kept for').selectOption('7d');
      await page.getByLabel('Of this share of the calls').fill('0.5');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await workspaceStore.read('search')).toMatchObject({
        concurrency: 4,
        spend_limit_usd: '9',
        data_policy: { zdr: true },
        member_keys: { max: 3, rpm: 60, expires_in: '30d' },
        content_log: { keep: '7d', share: 0.5 },
      });
      await page.getByRole('button', { name: 'Credit of workspace search' }).click();
      await page.getByLabel('Amount in USD').fill('2.5');
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByRole('dialog').getByRole('cell', { name: '$2.50' }).waitFor();
      expect((await consolePage.gateway.credit('search')).granted).toBe(7_500_000_000_000n);
    });

    it.each([
      { view: 'workspaces', rows: workspaceSettings },
      { view: 'keys', rows: keySettings },
    ])(
      'has every setting in the form of $view: saved as it is it changes none, emptied it removes all',
      async ({ view, rows }) => {
        const { workspaceStore, keys } = consolePage.gateway.composition;
        const all = allSet(rows);
        const { publicId, secretSha256 } = newApiKey(systemRandomness);
        if (view === 'workspaces') await workspaceStore.write({ ...all, id: 'full' });
        else await keys.write({ ...fromWrittenKey(all), publicId, secretSha256, workspace: 'team', name: 'full' });
        const storageContents = async (): Promise<object> => {
          const key = await keys.read(publicId);
          return key === undefined ? ((await workspaceStore.read('full')) ?? {}) : writtenKey(key);
        };
        const { page } = await open(`view=${view}`);
        await page.getByRole('button', { name: /^Change (workspace full|key full of team)$/ }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.getByText('must change something').waitFor();
        expect(await storageContents()).toMatchObject(all);
        for (const field of await dialog.locator('input:not([required])').all()) {
          if ((await field.getAttribute('type')) === 'checkbox') await field.uncheck();
          else await field.fill('');
        }
        for (const choice of await dialog.locator('select').all()) await choice.selectOption('');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.waitFor({ state: 'detached' });
        const remainder = await storageContents();
        for (const [name, { kind }] of Object.entries<Setting>(rows)) {
          expect([name, valueAt(remainder, name) ?? samples[kind].absent ?? null]).toEqual([
            name,
            samples[kind].absent ?? null,
          ]);
        }
      },
    );

    it('asks before it switches a provider off, saying which models have no provider then and whose calls it ends, and switches it on', async () => {
      const { page, findBarriers } = await open('view=models');
      const statusOf = async () =>
        (await consolePage.gateway.composition.catalogues.read())?.providers.find(({ id }) => id === 'globex')?.status;
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Disable provider globex' }).click();
      await dialog.getByRole('list', { name: 'Models without a provider' }).getByText('globex/failing').waitFor();
      await dialog
        .getByRole('list', { name: 'Who called it' })
        .getByText(/^first of team: \d+ calls$/)
        .waitFor();
      expect(await dialog.getByText('both/fallback').count()).toBe(0);
      expect(await findBarriers()).toEqual([]);
      await dialog.getByRole('button', { name: 'Keep it' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await statusOf()).toBe('enabled');
      await page.getByRole('button', { name: 'Disable provider globex' }).click();
      await dialog.getByRole('button', { name: 'Disable' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await statusOf()).toBe('disabled');
      await page.getByRole('button', { name: 'Enable provider globex' }).click();
      await page.getByRole('button', { name: 'Disable provider globex' }).waitFor();
    });

    it('says in the form why the gateway refuses a key', async () => {
      const { page } = await open('view=keys');
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByLabel('Workspace').selectOption('team');
      await page.getByLabel('Name').fill('first');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('alert').getByText('first').waitFor();
    });

    it.each([
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ])('shows the error of each form where it is seen, whatever else is in the form, in %j', async (size) => {
      const { page } = await open('view=keys');
      await page.setViewportSize(size);
      const dialog = page.getByRole('dialog');
      /** Checks that the error itself is painted at its corners and in its middle. */
      const seeError = async () => {
        await dialog.getByRole('alert').waitFor();
        expect(await page.evaluate<boolean>(`(${isInView})(document.querySelector('dialog [role=alert]'))`)).toBe(true);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      };
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByLabel('Workspace').selectOption('team');
      await page.getByLabel('Name').fill('first');
      await page.keyboard.press('Enter');
      await seeError();
      await show(page, 'view=operators');
      await page.getByRole('button', { name: 'Make an operator key' }).click();
      await page.getByLabel('Name').fill('ada');
      await page.keyboard.press('Enter');
      await seeError();
      await show(page, 'view=workspaces');
      await page.getByRole('button', { name: 'Make a workspace' }).click();
      await page.getByLabel('Id', { exact: true }).fill('team');
      await page.keyboard.press('Enter');
      await seeError();
      await page.getByRole('button', { name: 'Credit of workspace other' }).click();
      await page.getByLabel('Amount in USD').fill('-5000');
      await page.getByRole('button', { name: 'Add' }).click();
      await seeError();
      await show(page, 'view=functions');
      await page.getByRole('button', { name: 'Make a function' }).click();
      // The browser sends no form without a workspace, and these are loaded.
      await dialog.getByLabel('Workspace').selectOption('team');
      await page.getByLabel('Function', { exact: true }).fill('new');
      await page.getByLabel('Revision', { exact: true }).fill('r1');
      await page.getByLabel('What it holds').fill('{');
      await page.getByRole('button', { name: 'Publish' }).click();
      await seeError();
    });

    it('shows how each provider does, that it cools, and what is used of its limits', async () => {
      for (const _call of [1, 2]) await (await callOf('globex/failing')).text();
      const { page, findBarriers, isTooWide } = await open('view=models');
      const providers = page.getByRole('table', { name: 'Providers', exact: true });
      const globex = providers.getByRole('row').filter({ hasText: 'Provider globex' }).first();
      expect(await globex.textContent()).toMatch(/failing at (both\/fallback, )?globex\/failing/);
      expect(await page.getByText('cooling for').count()).toBe(0);
      const healthOf = async (provider: string) => {
        await page.getByRole('button', { name: `Models at ${provider}` }).click();
        return page.getByRole('table', { name: `Health of ${provider} at its models` }).locator('tbody tr');
      };
      // Failing models come first.
      const atGlobex = await healthOf('globex');
      expect(await atGlobex.first().textContent()).toContain('failing');
      expect(await atGlobex.filter({ hasText: 'globex/failing' }).textContent()).toMatch(
        /failing.*cooling for team: calls to it failed/,
      );
      const atAcme = await healthOf('acme');
      const echo = atAcme.filter({ hasText: 'acme/echo' });
      await echo.getByText(/^\d+ of 1,000 requests per minute$/).waitFor();
      expect(await echo.textContent()).toContain('serving');
      expect(await findBarriers()).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await isTooWide()).toBe(false);
      await page.setViewportSize({ width: 1200, height: 800 });
      await page.getByRole('button', { name: 'Models at globex' }).click();
      await atGlobex.first().waitFor({ state: 'detached' });
    });

    it('shows all that is stored of a model, and takes the model list over if that differs', async () => {
      const { page } = await open('view=models');
      const dialog = page.getByRole('dialog');
      const row = page.getByRole('row').filter({ hasText: 'Model listed/gpt-5.4' }).filter({ hasText: 'Playground' });
      await row.getByText(/^\d+ differences$/).waitFor();
      await row.getByRole('button', { name: 'Details' }).click();
      for (const text of [
        'above 272,000',
        'chat-completions, responses',
        'tools, vision, json_mode, json_schema, streaming',
      ]) {
        await dialog.getByText(text).waitFor();
      }
      const difference = dialog.getByRole('row').filter({ hasText: 'cached_input_price_per_million' });
      expect(await difference.getByRole('cell').allTextContents()).toEqual([
        'listed',
        'cached_input_price_per_million',
        '0.30',
        '0.25',
        'yes',
      ]);
      await dialog.getByRole('button', { name: 'Take the list over' }).click();
      await row.getByText('as there').waitFor();
      await dialog.waitFor({ state: 'detached' });
      const document = await consolePage.gateway.composition.catalogues.read();
      const storedProvider = document?.models.find(({ id }) => id === 'listed/gpt-5.4')?.providers[0];
      expect(storedProvider).toMatchObject({ cached_input_price_per_million: '0.25', max_output_tokens: 128_000 });
      await page.getByRole('button', { name: 'Details of acme/echo' }).click();
      await dialog.getByText('The list does not know it').waitFor();
      expect(await dialog.getByRole('button', { name: 'Take the list over' }).count()).toBe(0);
    });

    it('disables and enables a function, and activates another revision', async () => {
      const { page } = await open('view=functions');
      const codeOf = async () => ((await (await callOf('gw/function/label')).json()) as { error?: string }).error;
      await page.getByRole('button', { name: 'disable label' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('It was not called in the last 24 hours.').waitFor();
      await dialog.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('button', { name: 'enable label' }).click();
      await page.getByRole('button', { name: 'disable label' }).waitFor();
      await page.getByLabel('Revision of label').selectOption('r2');
      await page.getByRole('button', { name: 'Activate r2 of label' }).click();
      await page.getByRole('cell', { name: 'r2', exact: true }).waitFor();
      const record = await consolePage.gateway.composition.functionStore.read('team', 'label');
      expect([record?.status, record?.active, await codeOf()]).toEqual(['enabled', 'r2', undefined]);
      // A viewer sees no button that would be refused.
      const grant = { role: 'viewer', workspaces: ['team'] } as const;
      const { text: viewerKey } = await createOperator(consolePage.gateway.composition, 'vera', grant);
      const { page: viewer } = await openWindowOf({});
      await viewer.goto(`/console#key=${viewerKey}`);
      for (const view of ['functions', 'function&workspace=team&id=label', 'workspaces', 'keys', 'models']) {
        await show(viewer, `view=${view}`);
        await settle(viewer);
        const names = await viewer.locator('main button:not(.sort, .fold)').allTextContents();
        expect([view, names.filter((name) => !['Refresh', 'Credit', 'Details'].includes(name))]).toEqual([view, []]);
      }
    });

    it('shows the configuration, says what an edit would change, applies it, and refuses what others were faster with', async () => {
      const { workspaceStore } = consolePage.gateway.composition;
      const { page, findBarriers } = await open('view=configuration');
      const file = page.getByLabel('Gateway file', { exact: true }).and(page.locator('textarea'));
      const apply = page.getByRole('button', { name: 'Apply' });
      const ask = page.getByRole('button', { name: 'What would change?' });
      const edit = async (change: (text: string) => string) => file.fill(change(await file.inputValue()));
      const withKey = (text: string) =>
        text.replace('keys:\n', `keys:\n      - name: ${JSON.stringify(`${hostile} new`)}\n        rpm: 5\n`);
      expect(await apply.isEnabled()).toBe(false);
      await edit(withKey);
      await edit((text) => text.replace('acme/slow', 'acme/slower'));
      await ask.click();
      const would = page.getByRole('status', { name: 'What would change' });
      await would.getByText('models[acme/slow] of catalogue').waitFor();
      expect(await would.textContent()).toContain(`key ${hostile} new of`);
      expect(await findBarriers()).toEqual([]);
      // After a change of the text the preview is out of date.
      await edit((text) => text.replace('acme/slower', 'acme/slow'));
      await edit((text) =>
        text.replace('models:\n', 'models:\n  - { id: listed/gpt-5, providers: [{ provider: listed }] }\n'),
      );
      await would.waitFor({ state: 'detached' });
      expect(await apply.isEnabled()).toBe(false);
      await ask.click();
      await would.getByText('Filled in').click();
      const filled = would.getByRole('region', { name: 'Filled in at models[listed/gpt-5].providers[listed]' });
      await filled.getByText('from the model list of').waitFor();
      expect(await filled.textContent()).toContain('input_price_per_million 1.25');
      // Another operator is faster: nothing is written, and the text stays.
      await workspaceStore.write({ id: 'other', function_concurrency: 77 });
      await apply.click();
      await page.getByRole('alert').getByText('precondition_failed').waitFor();
      expect(await findBarriers()).toEqual([]);
      expect(await file.inputValue()).toContain(`${hostile} new`);
      await page.getByRole('button', { name: 'Show what this text would change now' }).click();
      await would.getByText('function_concurrency').waitFor();
      await page.getByRole('button', { name: 'Read again' }).click();
      await would.waitFor({ state: 'detached' });
      await edit(withKey);
      await ask.click();
      await would.waitFor();
      await apply.click();
      const newKey = await page.getByRole('list', { name: 'New keys' }).locator('code').textContent();
      expect((await consolePage.gateway.keyItem(newKey ?? '')).requests_per_minute).toBe(5);
      await settle(page);
      expect(await findBarriers()).toEqual([]);
      expect((await workspaceStore.read('other'))?.function_concurrency).toBe(77);
      expect(await file.inputValue()).toContain('function_concurrency: 77');
      // The page shows where a file has a fault.
      await page
        .getByLabel('Gateway file', { exact: true })
        .and(page.locator('input'))
        .setInputFiles({
          name: 'gateway.yaml',
          mimeType: 'application/yaml',
          buffer: Buffer.from('providers: []\nmodels: []\nworkspaces: [{ id: team, rpm: 1 }]\n'),
        });
      await ask.click();
      await page.getByRole('alert').getByText('workspaces[0].rpm').waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      expect((await download).suggestedFilename()).toBe('gateway.yaml');
      expect(await page.locator('img').count()).toBe(0);
    });

    it('shows the revisions of a function with their texts, compares two, runs cases, and publishes one', async () => {
      const { page, findBarriers, isTooWide } = await open('view=functions');
      await page.getByRole('link', { name: 'gw/function/label' }).click();
      const text = page.locator('.compared');
      await page.locator('.filters select').first().selectOption('r1');
      await page.locator('.filters select').nth(1).selectOption('r2');
      await text.getByText('+ ').first().waitFor();
      await page.waitForURL(/left=r1.*right=r2|right=r2.*left=r1/);
      expect(await text.locator('.removed').textContent()).toContain('r1: {{input}}');
      expect(await text.locator('.added').textContent()).toContain('r2: {{input}}');
      await page.reload();
      await text.locator('.added').waitFor();
      expect(await findBarriers()).toEqual([]);
      // The revision's cases have not passed yet, so they run first.
      await page.getByRole('button', { name: 'Activate r3' }).click();
      const key = page.getByLabel('API key of team');
      await key.fill('sk-gw-wrong');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
      await key.fill(consolePage.gateway.key);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('All cases passed: r3 is qualified.').waitFor();
      await page.getByText('r3 (serving)').waitFor();
      expect(await findBarriers()).toEqual([]);
      const revisions = async () =>
        (await consolePage.gateway.composition.functionStore.read('team', 'label'))?.revisions;
      expect((await revisions())?.get('r3')?.qualifiedAtMs).not.toBeNull();
      await page.getByRole('button', { name: 'Publish a revision' }).click();
      await page.locator('input[name=revision]').fill('r4');
      const content = page.locator('textarea[name=content]');
      await content.fill('{');
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByRole('alert').getByText('revision: ').waitFor();
      await content.fill(
        JSON.stringify({ model: 'acme/echo', messages: [{ role: 'user', content: `${hostile} {{input}}` }] }),
      );
      expect(await findBarriers()).toEqual([]);
      await page.getByLabel('Activate it once its cases have passed').check();
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByText('r4 (serving)').waitFor();
      expect((await revisions())?.get('r4')?.state).toBe('activated');
      // A revision with a failing case stays a draft and the active revision goes on serving; the operator may skip the
      // cases.
      const cases = [{ input: 'apples', expect: { contains: 'never said' } }];
      const judged = JSON.stringify({ model: 'acme/echo', messages: [{ role: 'user', content: '{{input}}' }], cases });
      const publishToServe = async (id: string, skips: boolean) => {
        await page.getByRole('button', { name: 'Publish a revision' }).click();
        await page.locator('input[name=revision]').fill(id);
        await content.fill(judged);
        await page.getByLabel('Activate it once its cases have passed').check();
        if (skips) await page.getByLabel('Skip its cases').check();
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
      };
      await publishToServe('r5', false);
      await page.getByRole('heading', { name: 'Cases of r5' }).waitFor();
      await key.fill(consolePage.gateway.key);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('the answer does not contain').waitFor();
      expect(await findBarriers()).toEqual([]);
      const active = async () => (await consolePage.gateway.composition.functionStore.read('team', 'label'))?.active;
      expect([(await revisions())?.get('r5')?.state, await active()]).toEqual(['draft', 'r4']);
      await publishToServe('r6', true);
      await page.getByText('r6 (serving)').waitFor();
      await page.locator('.filters select').nth(1).selectOption('r4');
      await text.getByText(hostile).waitFor();
      expect(await page.locator('img').count()).toBe(0);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await isTooWide()).toBe(false);
      await show(page, 'view=functions');
      await page.getByRole('button', { name: 'Make a function' }).click();
      await page.locator('input[name=function]').fill('made-here');
      await page.locator('select[name=workspace]').selectOption('other');
      await page.locator('input[name=revision]').fill('first');
      await content.fill(judged);
      await page.getByLabel('Activate it once its cases have passed').check();
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByText('gw/function/made-here').waitFor();
      await page.getByRole('heading', { name: 'Cases of first' }).waitFor();
      expect((await consolePage.gateway.composition.functionStore.read('other', 'made-here'))?.revisions.size).toBe(1);
    });

    it('tries a call with an API key: its answer, its cost and its way, or why there is none', async () => {
      const { page } = await open('view=playground&model=both%2Ffallback');
      await page.getByLabel('API key').fill(consolePage.gateway.key);
      await page.locator('textarea[name=prompt]').fill(hostile);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
      expect(await page.locator('.answer').textContent()).toContain('simulated by the provider acme');
      expect(await totalsOf(page)).toMatchObject({ Cost: expect.stringMatching(/^\$0\.0/), Provider: 'acme' });
      expect(consolePage.gateway.simulator.calls.at(-1)?.body).toMatchObject({ stream: true });
      expect(await page.evaluate('Object.values(sessionStorage).join()')).not.toContain(consolePage.gateway.key);
      await page.getByLabel('Model').fill('no/such');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('alert').getByText('unknown_model').waitFor();
      await page.getByLabel('API key').fill('sk-gw-wrong');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
      // The operator is still signed in.
      await page.getByRole('heading', { name: 'Playground' }).waitFor();
    });

    it('speaks every interface in several turns, with system text, parameters, images and tools, and shows what went and came', async () => {
      const { page, findBarriers } = await open('view=playground&model=acme%2Fecho&interface=messages');
      await page.getByLabel('API key').fill(consolePage.gateway.key);
      await page.getByText('System text, parameters, tools, images').click();
      await page.getByLabel('System text').fill('Be brief.');
      await page.getByLabel('Temperature').fill('0.5');
      await page.getByLabel('Output tokens at most').fill('99');
      await page
        .locator('input[name=images]')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('89504e470d0a1a0a', 'hex') });
      const answer = page.locator('.answer');
      const message = page.locator('textarea[name=prompt]');
      const send = page.getByRole('button', { name: 'Send' });
      const codeOf = (title: string) =>
        page.locator('details.code').filter({ hasText: title }).locator('pre').textContent();
      const sentBody = async () => JSON.parse((await codeOf('What was sent')) ?? '');
      await message.fill('What is the weather?');
      // The page reports invalid JSON of tools before it sends a request.
      await page.getByLabel('Tools (JSON)').fill('[');
      await send.click();
      await page.getByRole('alert').getByText('Tools').waitFor();
      const before = consolePage.gateway.simulator.calls.length;
      await page
        .getByLabel('Tools (JSON)')
        .fill('[{"name": "weather", "parameters": {"type": "object", "properties": {}}}]');
      await send.click();
      const calls = page.getByRole('list', { name: 'Calls of tools' });
      await calls.getByText('weather').nth(1).waitFor();
      expect(consolePage.gateway.simulator.calls).toHaveLength(before + 1);
      expect(await sentBody()).toMatchObject({ system: 'Be brief.', temperature: 0.5, max_tokens: 99, stream: true });
      expect(await codeOf('What came back')).toContain('event: message_stop');
      expect(await findBarriers()).toEqual([]);
      for (const at of [0, 1]) await page.getByLabel('What weather').nth(at).fill('rain');
      await page.getByLabel('Tools (JSON)').fill('');
      await send.click();
      await answer.getByText('The tools answered').waitFor();
      await message.fill(hostile);
      await send.click();
      await page.getByRole('list', { name: 'Conversation' }).getByText(hostile).waitFor();
      await answer.getByText('one by one').waitFor();
      const { messages } = await sentBody();
      expect(messages.map(({ role }: { role: string }) => role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
        'user',
      ]);
      expect(JSON.stringify(messages)).toContain('iVBORw0KGgo=');
      expect(await codeOf('As curl')).toContain(`${consolePage.origin}/v1/messages`);
      expect(await codeOf('In Python')).toContain('from anthropic import Anthropic');
      await page.getByRole('button', { name: 'New conversation' }).click();
      await answer.waitFor({ state: 'detached' });
      for (const [name, model, part] of [
        ['responses', 'acme/echo', 'simulated by the provider acme'],
        ['embeddings', 'initech/vectors', 'numbers:'],
        ['chat-completions', 'gw/function/label', 'simulated by the provider acme'],
      ] as const) {
        await page.getByLabel('Interface').selectOption(name);
        await page.getByLabel('Model').fill(model);
        await send.click();
        await answer.getByText(part).waitFor();
      }
      expect(await page.locator('img').count()).toBe(0);
    });

    it('transcribes a file, shows its text and the form as code, and sends none without one', async () => {
      const { page, findBarriers } = await open('view=playground&interface=transcriptions&model=initech%2Fvectors');
      await page.getByLabel('API key').fill(consolePage.gateway.key);
      const before = consolePage.gateway.simulator.calls.length;
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await page.locator('input:invalid').getAttribute('name')).toBe('file');
      const file = { name: "it's.wav", mimeType: 'audio/wav', buffer: Buffer.concat(spokenPieces('one two', 'wav')) };
      await page.getByLabel('File').setInputFiles(file);
      await page.getByLabel('Prompt').fill(hostile);
      await page.getByText('More members of the body').click();
      await page.getByLabel('More members (JSON)').fill('{"response_format": "srt"}');
      await page.getByRole('button', { name: 'Send' }).click();
      const answer = page.locator('p.answer');
      await answer.getByText('00:00:00,000 -->').waitFor();
      await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
      const [call, ...others] = consolePage.gateway.simulator.calls.slice(before);
      const fileDetails = { file_name: "it's.wav", type: 'audio/wav', bytes: file.buffer.length };
      expect(call?.body).toEqual({
        model: expect.any(String),
        prompt: hostile,
        response_format: 'srt',
        file: fileDetails,
      });
      expect(others).toEqual([]);
      expect(await totalsOf(page)).toMatchObject({ Counted: '1 second', Provider: 'initech' });
      await page.getByLabel('More members (JSON)').fill('{"stream": true}');
      await page.getByRole('button', { name: 'Send' }).click();
      await answer.getByText('simulated by the provider initech').waitFor();
      const codeOf = (title: string) =>
        page.locator('details.code').filter({ hasText: title }).locator('pre').textContent();
      expect(await codeOf('As curl')).toContain(`-F 'file=@"it'\\''s.wav";type=audio/wav'`);
      expect(await codeOf('In Python')).toContain('file=open("it\'s.wav", "rb")');
      expect(await codeOf('What came back')).toContain('transcript.text.delta');
      expect(await findBarriers()).toEqual([]);
      expect(await page.locator('img').count()).toBe(0);
      // The list and the view of the call show the counted units too.
      await show(page, 'view=calls&interface=transcriptions');
      await rows(page).first().getByText('1 second').waitFor();
      await rows(page).first().getByRole('link').first().click();
      await page.getByText('transcriptions', { exact: true }).waitFor();
      await page.getByText('1 second', { exact: true }).waitFor();
    });

    it('shows what was said in a call when it is asked to: texts as text, images small, tools folded, and each body whole', async () => {
      const { page, findAllBarriers, isTooWide } = await open('view=calls');
      const { composition } = consolePage.gateway;
      await createWorkspace(composition, { id: 'kept', credit_usd: '5', content_log: { keep: '7d' } });
      const { text: key } = await createKey(composition, { workspace: 'kept', name: 'kept' });
      const image =
        'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      const messages = [
        {
          role: 'user',
          content: [
            { type: 'text', text: hostile },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":7}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'A cat' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: `${consolePage.origin}/console/elsewhere.png` } }],
        },
      ];
      const body = { model: 'acme/echo', messages };
      const response = await consolePage.gateway.post(body, { authorization: `Bearer ${key}` });
      expect(response.status).toBe(200);
      await response.text();
      await consolePage.gateway.settled();
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await show(page, `view=call&id=${response.headers.get('x-request-id')}`);
      await page.getByText('Model asked for').waitFor();
      expect(await page.getByText(hostile).count()).toBe(0);
      await page.getByRole('button', { name: 'Show content' }).click();
      const request = page.getByRole('list', { name: 'Request' });
      await request.getByText(hostile).waitFor();
      const images = await page.evaluate(
        `Promise.all([...document.images].map((one) => one.decode().then(() => [one.naturalWidth, one.width <= 200])))`,
      );
      expect(images).toEqual([[1, true]]);
      expect(await request.getByText('"at": 7').isVisible()).toBe(false);
      await request.getByText('call of look').click();
      expect(await request.getByText('"at": 7').isVisible()).toBe(true);
      await page.getByRole('list', { name: 'Answer, 200' }).getByText('assistant').waitFor();
      await page.locator('details.code').first().getByText('JSON').click();
      await page.locator('details.code pre').first().getByText('"image_url"').first().waitFor();
      expect(requested.filter((url) => url.includes('elsewhere'))).toEqual([]);
      expect(await findAllBarriers()).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await isTooWide()).toBe(false);
    });

    it('shows one call, one function and its form, and / as readable, the console in dark colours if they are preferred', async () => {
      const { page, findAllBarriers, isTooWide } = await open('view=calls');
      const expectReadable = async () => {
        await page.setViewportSize({ width: 1200, height: 800 });
        expect(await findAllBarriers()).toEqual([]);
        await page.setViewportSize({ width: 390, height: 800 });
        expect(await isTooWide()).toBe(false);
      };
      await rows(page).first().getByRole('link').click();
      await page.getByText('Model asked for').waitFor();
      await expectReadable();
      await show(page, 'view=function&workspace=team&id=label');
      await page.getByRole('button', { name: 'Publish a revision' }).waitFor();
      await expectReadable();
      await page.getByRole('button', { name: 'Publish a revision' }).click();
      await page.getByRole('dialog').waitFor();
      await expectReadable();
      const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
      const light = await background();
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await background()).not.toBe(light);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto('/');
      await page.getByRole('link', { name: 'Playground' }).waitFor();
      await expectReadable();
    });

    it('tries a call where clients call, also if the console has another address, and asks for nothing else there', async () => {
      const { apart, operatorKey, gateway } = consolePage;
      const window = await openWindow(browser, apart);
      const { page } = window;
      await page.goto(`/console?view=playground&model=acme%2Fecho#key=${operatorKey}`);
      while ((await page.getByLabel('Base URL').inputValue()) !== gateway.url);
      await page.getByLabel('API key').fill(gateway.key);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
      expect(new Set(window.faults)).toEqual(new Set([`request to ${gateway.url}/chat/completions`]));
      await window.close();
    });
  });
}

async function textOf(download: Download): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

/** Resolves when the page reads nothing any more. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('body:not(:has([aria-busy=true]))').waitFor();
}

/** Goes to an address as a link of the page does, through another view, so that each view starts anew. */
async function show(page: Page, query: string): Promise<void> {
  await page.getByRole('navigation').waitFor();
  const elsewhere = query.startsWith('view=playground') ? 'view=workspaces' : 'view=playground';
  for (const address of [elsewhere, query]) {
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(`/console?${address}`)}); dispatchEvent(new PopStateEvent('popstate'));`,
    );
  }
}

/** Runs a function body in the page. */
const look = <Value>(page: Page, script: string) => page.evaluate<Value>(`(() => { ${script} })()`);

const rows = (page: Page): Locator => page.locator('tbody tr');

async function expectRows(page: Page, count: number): Promise<void> {
  await rows(page).nth(count).waitFor({ state: 'detached' });
  await rows(page)
    .nth(count - 1)
    .waitFor();
}

async function totalsOf(page: Page): Promise<Record<string, string>> {
  const items = await page.locator('.totals > div').all();
  const pairs = items.map(async (item) => [
    await item.locator('dt').textContent(),
    await item.locator('dd').textContent(),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
}

/** Returns names and calls of a table of groups. */
async function namesAndCallsOf(table: Locator): Promise<Record<string, string>> {
  const found = await table.locator('tbody tr').all();
  const pairs = found.map(async (row) => (await row.getByRole('cell').allTextContents()).slice(0, 2));
  return Object.fromEntries(await Promise.all(pairs));
}

/**
 * Returns whether an element is painted at its own place. The script is a text, because the tests have no types of a
 * browser.
 */
const isInView = `(element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const places = [[left + 8, top + 4], [right - 8, top + 4], [left + 8, bottom - 4], [right - 8, bottom - 4], [(left + right) / 2, (top + bottom) / 2]];
  return places.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
}`;

/**
 * Checks that each bar of a time line is in its track, in the order of the starts, and that the first output is in its
 * attempt.
 */
async function expectPartsInPlace(page: Page): Promise<void> {
  const { lefts, outside, output } = await look<{ lefts: number[]; outside: number; output: boolean | undefined }>(
    page,
    `
    const box = (one) => one.getBoundingClientRect();
    const bars = [...document.querySelectorAll('.time-line .bar')];
    const isInside = (one) => box(one).left >= box(one.parentElement).left - 1 && box(one).right <= box(one.parentElement).right + 1;
    const mark = document.querySelector('.first-output');
    return {
      lefts: bars.map((one) => box(one).left),
      outside: bars.filter((one) => !isInside(one)).length,
      output: mark === null ? undefined : isInside(mark) && box(mark).left >= box(mark.parentElement.querySelector('.bar')).left - 1,
    };`,
  );
  expect(lefts.length).toBeGreaterThan(2);
  expect([...lefts].sort((one, other) => one - other)).toEqual(lefts);
  expect([outside, output ?? true]).toEqual([0, true]);
}
