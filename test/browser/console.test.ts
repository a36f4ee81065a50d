// The console in a real browser, against a gateway with real calls. Where Chromium does not start, a line says so and nothing
// of it is tested.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { builtPage } from '../../infra/local/console-page.ts';
import { createWholeGateway } from '../../infra/local/serve-all.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type GatewayServer, serveGateway } from '../support/serve-gateway.ts';
import { startChromium } from './chromium.ts';
import { type ConsoleWindow, openWindow } from './console-window.ts';

const browser = await startChromium();
if (typeof browser === 'string') process.stderr.write(`the console was not opened in a browser: ${browser}\n`);

let gateway: Harness;
let server: GatewayServer;
let origin: string;

beforeAll(async () => {
  gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
  server = await serveGateway(gateway.composition, createWholeGateway(gateway.composition, builtPage()));
  origin = new URL(server.url).origin;
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await server.close();
  await gateway.stop();
});

(typeof browser === 'string' ? describe.skip : describe)('the console', () => {
  it('asks for an operator key', async () => {
    const w: ConsoleWindow = await openWindow(browser as never, origin);
    await w.page.goto('/console');
    expect(await w.page.title()).toBe('gw console');
    await w.page.getByLabel('Operator key').waitFor();
    expect(await w.findBarriers()).toEqual([]);
    expect(w.faults).toEqual([]);
  });
});
