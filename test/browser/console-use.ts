// The console as operators use it: rules that hold in every view, sorting, searching, and the questions that a removal
// asks.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { connectionFaultText } from '../../shared/foundation/constants/index.ts';
import { hello } from '../support/harness.ts';
import { watchWindows } from './console-window.ts';
import { type ServedConsole, serveConsole } from './served-console.ts';

const views = ['overview', 'calls', 'workspaces', 'keys', 'operators', 'models', 'functions', 'configuration'] as const;
/** Views whose main part is a table. */
const tables = ['calls', 'workspaces', 'keys', 'operators', 'models', 'functions'];
const sizes = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
const dialogs = [
  ['keys', 'Make a key'],
  ['keys', 'Revoke key first of team'],
  ['workspaces', 'Change workspace team'],
  ['workspaces', 'Credit of workspace team'],
  ['operators', 'Make an operator key'],
  ['models', 'Details of listed/gpt-5.4'],
  ['models', 'Disable provider acme'],
  ['functions', 'Make a function'],
] as const;

/** Finds controls that are smaller than 16 px, and elements that are outside the columns of the page or the dialog. */
const faultsOfLayout = `(() => {
  const box = (one) => one.getBoundingClientRect();
  const place = document.querySelector('dialog[open]') ?? document.querySelector('main');
  const { paddingLeft, paddingRight } = getComputedStyle(place);
  const left = box(place).left + parseFloat(paddingLeft) - 1;
  const right = box(place).right - parseFloat(paddingRight) + 1;
  const shown = [...place.querySelectorAll('*')].filter((one) => one.checkVisibility() && !one.closest('.hidden, canvas, .u-legend, datalist'));
  const nameOf = (one) => one.outerHTML.slice(0, 100);
  const controls = [...document.querySelectorAll('button, input, select, textarea, summary, a')].filter((one) => one.checkVisibility() && !one.matches('.skip'));
  return {
    small: controls.filter((one) => Math.min(box(one).width, box(one).height) < 16).map(nameOf),
    outside: shown.filter((one) => box(one).width > 0 && (box(one).left < left || box(one).right > right)).map(nameOf),
  };
})()`;

export function testUse(browser: Browser): void {
  describe('the console in use', () => {
    let consolePage: ServedConsole;
    const windows = watchWindows(browser);
    beforeAll(async () => {
      consolePage = await serveConsole();
    });
    afterEach(() => windows.close());
    afterAll(async () => {
      await consolePage.stop();
    });

    async function open(query: string): Promise<Page> {
      const { page } = await windows.open(consolePage.origin);
      // The page would not load an address again that differs only in its fragment.
      await page.goto('about:blank');
      await page.goto(`/console?${query}#key=${consolePage.operatorKey}`);
      await settle(page);
      return page;
    }
    const go = async (page: Page, query: string) => {
      await page.goto(`/console?${query}`);
      await settle(page);
    };

    it.each(sizes)(
      'has no control below 16 px, nothing outside its grid, and the first row of a main table within 600 px, at %j',
      async (size) => {
        const page = await open('view=overview');
        await page.setViewportSize(size);
        for (const view of views) {
          await go(page, `view=${view}`);
          expect([view, await page.evaluate(faultsOfLayout)]).toEqual([view, { small: [], outside: [] }]);
          if (!tables.includes(view)) continue;
          const top = await page.evaluate<number>('document.querySelector("tbody tr").getBoundingClientRect().top');
          expect([view, top <= 600]).toEqual([view, true]);
        }
        await go(page, 'view=calls&code=unknown_model');
        await page.locator('details.rare[open]').waitFor();
        expect(await page.evaluate(faultsOfLayout)).toEqual({ small: [], outside: [] });
        for (const [view, name] of dialogs) {
          await go(page, `view=${view}`);
          await page.getByRole('button', { name, exact: true }).click();
          await settle(page);
          expect([name, await page.evaluate(faultsOfLayout)]).toEqual([name, { small: [], outside: [] }]);
        }
      },
    );

    it.each(sizes)('has its navigation at one place in every view, at %j', async (size) => {
      const page = await open('view=overview');
      await page.setViewportSize(size);
      const places = new Set<string>();
      for (const view of [...views, 'playground']) {
        await page.locator(`nav a[href$="view=${view}"]`).click();
        await settle(page);
        places.add(
          await page.evaluate<string>(
            `JSON.stringify([...document.querySelectorAll('nav a, .who')].map((one) => { const { left, top, width, height } = one.getBoundingClientRect(); return [left, top, width, height].map(Math.round); }))`,
          ),
        );
      }
      expect([...places]).toHaveLength(1);
    });

    it('sorts a table by its titles, and if it is narrow by a choice, and keeps that while one searches', async () => {
      const page = await open('view=overview');
      const table = page.getByRole('table', { name: 'Calls by model' });
      const column = async (at: number) =>
        (await table.locator(`tbody td:nth-child(${at})`).allTextContents()).map((text) => text.trim());
      const asItComes = await column(1);
      const calls = table.getByRole('columnheader', { name: 'Calls', exact: true });
      expect(await calls.getAttribute('aria-sort')).toBe('none');
      await calls.getByRole('button').click();
      expect(await calls.getAttribute('aria-sort')).toBe('descending');
      const descending = (await column(2)).map(Number);
      expect(descending).toEqual([...descending].sort((one, other) => other - one));
      expect(new Set(descending).size).toBeGreaterThan(1);
      await calls.getByRole('button').press('Enter');
      expect(await calls.getAttribute('aria-sort')).toBe('ascending');
      expect((await column(2)).map(Number)).toEqual(descending.toReversed());
      await calls.getByRole('button').click();
      expect([await calls.getAttribute('aria-sort'), await column(1)]).toEqual(['none', asItComes]);
      // A model that was never answered has no latency: it is last in both orders.
      const p50 = table.getByRole('columnheader', { name: 'p50' }).getByRole('button');
      for (const _order of [1, 2]) {
        await p50.click();
        expect((await column(7)).at(-1)).toBe('–');
      }
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByLabel('Order of Calls by model').selectOption('Calls, ascending');
      expect((await column(2)).map(Number)).toEqual(descending.toReversed());
      await page.setViewportSize({ width: 1280, height: 800 });
      await go(page, 'view=keys');
      const names = () => page.locator('tbody td:first-child a').allTextContents();
      await page.getByRole('columnheader', { name: 'Workspace' }).getByRole('button').click();
      await page.getByRole('columnheader', { name: 'Workspace' }).getByRole('button').click();
      const turned = await names();
      await page.getByLabel('Search').pressSequentially('e');
      await page.waitForURL(/search=e/);
      await settle(page);
      expect(await names()).toEqual(turned);
      expect(await page.locator('th[aria-sort=descending]').textContent()).toBe('Workspace');
    });

    it('searches models and providers as one types, without a key, a step back, or a row without the text', async () => {
      const page = await open('view=models');
      const models = page.getByRole('table', { name: 'Models', exact: true }).locator('tbody tr');
      const all = await models.count();
      const steps = await page.evaluate<number>('history.length');
      await page.getByLabel('Search').pressSequentially('gPt-5');
      await page.waitForURL(/search=gPt-5/);
      await settle(page);
      expect(await models.locator('td:first-child a').allTextContents()).toEqual(['listed/gpt-5.4']);
      const providers = page.getByRole('table', { name: 'Providers', exact: true }).locator('tbody tr');
      expect(await providers.locator('td:first-child a').allTextContents()).toEqual(['listed']);
      expect(await page.evaluate('[history.length, document.activeElement.type]')).toEqual([steps, 'search']);
      await page.getByLabel('Search').fill('fallback');
      await page.waitForURL(/search=fallback/);
      await settle(page);
      // A search for a model finds its provider, and shows only that model.
      await page.getByRole('button', { name: 'Models at acme' }).click();
      const health = page.getByRole('table', { name: 'Health of acme at its models' }).locator('tbody tr');
      expect(await health.locator('td:first-child').allTextContents()).toEqual(['both/fallback']);
      await page.getByLabel('Search').fill('');
      await page.waitForURL((url) => !url.searchParams.has('search'));
      await settle(page);
      expect(await models.count()).toBe(all);
    });

    it('has the models that are called before those that are not, and both before those that cannot be', async () => {
      const { catalogues, clock } = consolePage.gateway.composition;
      await catalogues.write((former) => {
        if (former === undefined) throw new Error('there is no catalogue');
        const off = (id: string) => ['initech', 'quoting'].includes(id);
        return {
          ...former,
          providers: former.providers.map((one) => (off(one.id) ? { ...one, status: 'disabled' } : one)),
        };
      }, clock.nowMs());
      const page = await open('view=models');
      const rows = page.getByRole('table', { name: 'Models', exact: true }).locator('tbody tr');
      const ranks = (await rows.allTextContents()).map((text) =>
        /serving|failing|limited|refusing/.test(text) ? 0 : /unused/.test(text) ? 1 : 2,
      );
      expect([...ranks].sort()).toEqual(ranks);
      expect(new Set(ranks)).toEqual(new Set([0, 1, 2]));
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Models', 'Providers']);
      await catalogues.write((former) => {
        if (former === undefined) throw new Error('there is no catalogue');
        return { ...former, providers: former.providers.map((one) => ({ ...one, status: 'enabled' })) };
      }, clock.nowMs());
    });

    it('shows what every workspace and every key spends, a key that has no limit too, with its workspace', async () => {
      const page = await open('view=overview');
      const byWorkspace = page.getByRole('table', { name: 'Calls by workspace' }).locator('tbody tr');
      expect(await byWorkspace.locator('td:first-child').allTextContents()).toEqual(['team', 'other']);
      const byKey = page.getByRole('table', { name: 'Calls by key' }).locator('tbody tr');
      expect(await byKey.locator('td:first-child').allTextContents()).toEqual([
        'firstof team',
        expect.stringMatching(/of other$/),
      ]);
      const spent = await byKey.locator('td:nth-child(5)').allTextContents();
      for (const amount of spent) expect(amount).toMatch(/^\$0\.\d*[1-9]/);
      await go(page, 'view=keys');
      const first = page.getByRole('row').filter({ hasText: 'first' }).locator('td[data-title=Spent]');
      await first.getByText(/^24 h: \$0\.\d*[1-9]/).waitFor();
    });

    it('asks before it removes credit, saying whose, and before a file removes something', async () => {
      const page = await open('view=workspaces');
      const { gateway } = consolePage;
      await page.getByRole('button', { name: 'Credit of workspace other' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount in USD').fill('-0.25');
      const before = (await gateway.credit('other')).granted;
      await dialog.getByRole('button', { name: 'Add' }).click();
      await dialog.getByText('This takes $0.25 from all keys of workspace other').waitFor();
      expect((await gateway.credit('other')).granted).toBe(before);
      // A change of the amount makes the dialog ask again.
      await dialog.getByLabel('Amount in USD').fill('-0.5');
      await dialog.getByRole('button', { name: 'Add' }).click();
      await dialog.getByText('This takes $0.50 from').waitFor();
      expect((await gateway.credit('other')).granted).toBe(before);
      await dialog.getByRole('button', { name: 'Take it away' }).click();
      await dialog.getByRole('cell', { name: '−$0.50' }).waitFor();
      expect((await gateway.credit('other')).granted).toBe(before - 500_000_000_000n);
      await go(page, 'view=configuration');
      const file = page.locator('textarea');
      const text = await file.inputValue();
      const without = text.replace(/ {2}- id: acme\/stalling\n(?: {4}.*\n)+/, '');
      expect(without).not.toBe(text);
      await file.fill(without);
      await page.getByRole('button', { name: 'What would change?' }).click();
      await page.getByRole('status', { name: 'What would change' }).waitFor();
      await page.getByRole('button', { name: 'Apply' }).click();
      await dialog.getByRole('list', { name: 'Takes away' }).getByText('acme/stalling').waitFor();
      const storedModels = async () => (await gateway.composition.catalogues.read())?.models.map(({ id }) => id) ?? [];
      expect(await storedModels()).toContain('acme/stalling');
      await dialog.getByRole('button', { name: 'Keep it' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await storedModels()).toContain('acme/stalling');
      await page.getByRole('button', { name: 'Apply' }).click();
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await storedModels()).not.toContain('acme/stalling');
    });

    it('draws the parts of a call if its record has them, and none if the record of a former release has no starts', async () => {
      const page = await open('view=calls');
      const [record] = await consolePage.gateway.records();
      let timeLine: object[] | null = [
        { part: 'admission', start_ms: 0, ms: 5 },
        { part: 'settlement', start_ms: 105, ms: 1 },
        { part: 'attempt', at: 0, start_ms: 5, ms: 100 },
        { part: 'guardrail', at: 0, start_ms: 40, ms: 60 },
      ];
      const expectedRules = {
        ...{
          total_ms: 106,
          first_output_ms: 30,
          attempts: [{ provider: 'acme', outcome: 'ok', status: 200, ms: 100 }] as object[],
        },
        guardrails: [{ id: 'words', direction: 'output', action: 'mask', checks: 6, ms: 19 }],
      };
      await page.route('**/v1/manage/calls/*', async (route) => {
        const response = await route.fetch();
        const { data } = await response.json();
        await route.fulfill({ response, json: { data: { ...data, ...expectedRules, time_line: timeLine } } });
      });
      const parts = page.getByRole('list', { name: 'Parts of the call in their order' }).getByRole('listitem');
      const barsOf = () =>
        page.evaluate<number[][]>(
          `[...document.querySelectorAll('.time-line .bar')].map((bar) => { const track = bar.parentElement.getBoundingClientRect(); const { left, width } = bar.getBoundingClientRect(); return [left - track.left, width].map((one) => Math.round((106 * one) / track.width)); })`,
        );
      await go(page, `view=call&id=${record?.executionId}`);
      expect(await parts.allTextContents()).toEqual([
        'admission 5 ms',
        'acme ✓ ok 100 msFirst output after 30 ms of the call',
        'guardrail words on output: mask, 6 checks 19 ms',
        'settlement 1 ms',
      ]);
      expect(await barsOf()).toEqual([
        [0, 5],
        [5, 100],
        [40, 60],
        [105, 1],
      ]);
      timeLine = null;
      await page.reload();
      await settle(page);
      expect(await parts.allTextContents()).toEqual(['acme ✓ ok 100 ms']);
      expect(await page.locator('.track').count()).toBe(0);
      // The console says why a provider was not reached in the words of the command line.
      expectedRules.attempts = [
        { provider: 'acme', outcome: 'connection', reason: 'dns_not_found', status: null, ms: 100 },
      ];
      await page.reload();
      await settle(page);
      const text = `acme ✗ connection 100 ms${connectionFaultText('dns_not_found')}`;
      expect(await parts.allTextContents()).toEqual([text]);
    });

    it('numbers the lines of a file, and selects the line of a fault', async () => {
      const page = await open('view=configuration');
      const file = page.locator('textarea');
      const lines = (await file.inputValue()).split('\n');
      expect((await page.locator('.line-numbers').textContent())?.split('\n')).toHaveLength(lines.length);
      const at = lines.findIndex((line) => line.includes('rate_limit_rpm: 1000'));
      expect(at).toBeGreaterThan(24);
      lines[at] = lines[at]?.replace('1000', 'many') ?? '';
      await file.fill(lines.join('\n'));
      await page.getByRole('button', { name: 'What would change?' }).click();
      await page
        .getByRole('alert')
        .getByText(`line ${at + 1}`)
        .waitFor();
      const selected = () =>
        page.evaluate<string>(
          '((one) => one.value.slice(one.selectionStart, one.selectionEnd))(document.querySelector("textarea"))',
        );
      while ((await selected()) !== lines[at]);
      const [top, height] = await page.evaluate<[number, number]>(
        '((one) => [one.scrollTop, parseFloat(getComputedStyle(one).lineHeight)])(document.querySelector("textarea"))',
      );
      expect(at * height - top).toBeGreaterThan(0);
      expect(at * height - top).toBeLessThan(24 * height);
      expect(await page.evaluate('document.querySelector(".line-numbers").scrollTop')).toBe(top);
      // The form of a revision numbers its lines in the same way.
      await go(page, 'view=functions');
      await page.getByRole('button', { name: 'Make a function' }).click();
      await page.getByLabel('Function', { exact: true }).fill('new');
      await page.getByLabel('Revision', { exact: true }).fill('r1');
      await page.locator('textarea').fill('model: acme/echo\nmessages:\n  - { role: user, content: "x"\n');
      await page.getByRole('button', { name: 'Publish' }).click();
      await page
        .getByRole('alert')
        .getByText(/line \d/)
        .waitFor();
      const message = (await page.getByRole('alert').textContent()) ?? '';
      const line = Number(/line (\d+)/.exec(message)?.[1]);
      expect(
        await page.evaluate(
          'document.querySelector("textarea").value.slice(0, document.querySelector("textarea").selectionStart).split("\\n").length',
        ),
      ).toBe(line);
    });

    it('offers tags, models, guardrails and workspaces to choose from, and sends what was chosen', async () => {
      const page = await open('view=keys');
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByLabel('Workspace').selectOption('team');
      await page.getByLabel('Name').fill('chosen');
      await page.getByLabel('Add to Models').selectOption('acme/echo');
      await page.getByLabel('Add to Models').selectOption('acme/slow');
      await page.getByLabel('Add to Models').selectOption('acme/echo');
      expect(await page.getByLabel('Models', { exact: true }).inputValue()).toBe('acme/echo, acme/slow');
      await page.getByLabel('Add to Tags').selectOption('note=');
      await page.keyboard.type('yes');
      await page.getByRole('button', { name: 'Make the key' }).click();
      const newKey = (await page.getByLabel('The new key').locator('code').textContent()) ?? '';
      expect(await consolePage.gateway.keyItem(newKey)).toMatchObject({ tags: { note: 'yes' } });
      const call = (model: string) => consolePage.gateway.post(hello(model), { authorization: `Bearer ${newKey}` });
      expect((await call('acme/slow')).status).toBe(200);
      expect(await (await call('both/fallback')).json()).toMatchObject({ error: 'unknown_model' });
      await go(page, 'view=calls');
      await page.getByText('More filters').click();
      const offered = await page
        .locator('datalist#choices-of-model option')
        .evaluateAll((options) => options.map((option) => (option as unknown as { value: string }).value));
      expect(offered).toContain('both/fallback');
    });
  });
}

/** Resolves when the page reads nothing any more. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('body:not(:has([aria-busy=true]))').waitFor();
}
