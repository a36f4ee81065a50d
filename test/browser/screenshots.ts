// `npm run screenshots -- FOLDER` takes pictures of the views and dialogs of the console and of `/`, in light and dark,
// wide and narrow, of a gateway with a day of calls in it. The calls are made now, on a clock that moves through the
// day. The two small pictures in README.md come from here too.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createWholeGateway } from '../../infra/container/routes.ts';
import { builtFiles } from '../../infra/local/built-files.ts';
import { createKey, createOperator } from '../../shared/configuration/administration/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { serveGateway } from '../support/serve-gateway.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { startChromium } from './chromium.ts';
import { openWindow } from './console-window.ts';

const hours = 24;
const hourMs = 3_600_000;
const callsAtNight = 4;
const callsAtNoon = 14;

const entry = (provider: string, upstream: string, price: string) => ({
  provider,
  upstream,
  more: { input_price_per_million: price, output_price_per_million: String(4 * Number(price)), rate_limit_rpm: 500 },
});
const models = {
  'acme/large': [entry('acme', 'slow:240', '2.50'), entry('globex', 'slow:310', '3.00')],
  'acme/small': [entry('acme', 'slow:60', '0.40')],
  'globex/fast': [entry('globex', 'slow:35', '0.20'), entry('acme', 'slow:50', '0.25')],
  'initech/flaky': [entry('initech', 'error-503', '0.10'), entry('globex', 'slow:90', '0.30')],
};

const message = { role: 'user', content: '{{input}}' };
const briefly = { role: 'system', content: 'Three sentences at most.' };
const summarize = {
  id: 'summarize',
  kind: 'prompt',
  active: 'r1',
  revisions: [
    { id: 'r1', state: 'activated', model: 'acme/large', messages: [message] },
    { id: 'r2', state: 'draft', model: 'acme/small', messages: [briefly, message] },
  ],
};

async function makeCalls(gateway: Harness, keys: readonly string[], hour: number): Promise<void> {
  const calls = Math.round(callsAtNight + (callsAtNoon - callsAtNight) * Math.sin((Math.PI * hour) / hours) ** 2);
  const names = Object.keys(models);
  const bodies = Array.from({ length: calls }, (_none, at) =>
    hello(names[(at * 7 + hour) % names.length] ?? '', {
      max_tokens: 200,
      stream: at % 3 === 0,
      ...(at % 9 === 8 ? { model: 'initech/flaky', provider: { only: 'initech' } } : {}),
    }),
  );
  const send = async (body: object, at: number) => {
    const answer = await gateway.post(body, { authorization: `Bearer ${keys[at % keys.length]}` });
    await answer.text();
  };
  await Promise.all(bodies.map(send));
  await gateway.settled();
}

useOneFolderForTheRun();
const folder = resolve(process.argv[2] ?? 'dist/screenshots');
mkdirSync(folder, { recursive: true });
const browser = await startChromium();
if (typeof browser === 'string') throw new Error(browser);
let behindMs = hours * hourMs;
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() - behindMs };
const gateway = await startHarness({
  clock,
  models,
  workspace: { functions: [promptFunction('label-ticket', 'acme/small'), summarize] },
  moreWorkspaces: [
    {
      id: 'ads',
      credit_usd: '250.50',
      spend_limit_usd: '1000',
      concurrency: 20,
      models: ['acme/small', 'globex/fast'],
      data_policy: { zdr: true, data_residency: ['eu'] },
    },
  ],
});
const { composition } = gateway;
const names = ['search', 'support-bot', 'nightly-report'];
const newKeys = names.map((name) => createKey(composition, { workspace: 'team', name, rpm: 600, spendLimitUsd: '5' }));
const keys = [gateway.key, ...(await Promise.all(newKeys)).map(({ text }) => text)];
for (let hour = 0; hour < hours; hour += 1) {
  await makeCalls(gateway, keys, hour);
  behindMs -= hourMs;
}
await makeCalls(gateway, keys, hours);
const { text: operatorKey } = await createOperator(composition, 'ada');
const server = await serveGateway(composition, createWholeGateway(composition, builtFiles()));
const origin = new URL(server.url).origin;
const { page } = await openWindow(browser, origin);
await page.goto(`/console#key=${operatorKey}`);
await page.goto('/console?view=calls&model=initech%2Fflaky');
await page.getByRole('row').filter({ hasText: '→' }).getByRole('link').first().click();
await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
const callAddress = page.url();
const tableViews = ['overview', 'calls', 'workspaces', 'keys', 'models', 'functions', 'configuration'];
const addresses = {
  ...Object.fromEntries(tableViews.map((view) => [view, `/console?view=${view}`])),
  function: '/console?view=function&workspace=team&id=summarize&left=r1&right=r2',
  call: callAddress,
};
const dialogs = [
  ['keys', 'Make a key'],
  ['workspaces', 'Credit of workspace team'],
  ['workspaces', 'Change workspace ads'],
  ['models', 'Details of acme/large'],
  ['models', 'Disable provider acme'],
  ['keys', 'Revoke key first of team'],
  ['functions', 'Make a function'],
] as const;
const settled = () => page.locator('body:not(:has([aria-busy=true]))').waitFor();
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    const path = (name: string) => join(folder, `${name}-${colorScheme}-${width}.png`);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled();
      await page.screenshot({ path: path(name), fullPage: true });
    }
    for (const [view, button] of dialogs) {
      await page.goto(`/console?view=${view}`);
      await page.getByRole('button', { name: button }).click();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: path(`dialog-${button.toLowerCase().replaceAll(/[ /]/g, '-')}`) });
    }
    await page.goto('/console?view=configuration');
    const file = page.getByLabel('Gateway file').and(page.locator('textarea'));
    await file.fill((await file.inputValue()).replace('rpm: 600', 'rpm: 60').replace('slow:240', 'slow:250'));
    await page.getByRole('button', { name: 'What would change?' }).click();
    await page.getByRole('status', { name: 'What would change' }).waitFor();
    await page.screenshot({ path: path('configuration-changed'), fullPage: true });
    await page.goto('/console?view=playground&model=acme%2Fsmall');
    await page.getByLabel('API key').fill(gateway.key);
    await page.locator('textarea[name=prompt]').fill('Which provider are you?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
    await page.screenshot({ path: path('playground'), fullPage: true });
    const signedOut = await openWindow(browser, origin);
    await signedOut.page.emulateMedia({ colorScheme });
    await signedOut.page.setViewportSize({ width, height: 800 });
    await signedOut.page.goto('/console');
    await signedOut.page.getByLabel('Operator key').waitFor();
    await signedOut.page.screenshot({ path: path('sign-in') });
    await signedOut.close();
  }
}
await page.emulateMedia({ colorScheme: 'light' });
// These small pictures are for a page of text.
await page.setViewportSize({ width: 880, height: 600 });
await page.goto('/console?view=overview');
await page.locator('canvas').first().waitFor();
await page.screenshot({ path: join(folder, 'small-overview.png') });
await page.emulateMedia({ colorScheme: 'dark' });
await page.goto(callAddress);
await page.getByRole('list', { name: 'Parts of the call in their order' }).waitFor();
await page.screenshot({ path: join(folder, 'small-call.png') });
await browser.close();
await server.close();
await gateway.stop();
process.stdout.write(`${folder}\n`);
process.exit(0);
