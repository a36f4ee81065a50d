// People sign in to the console at a certified OpenID Connect provider, in a real browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { createWholeGateway } from '../../infra/container/routes.ts';
import { builtFiles } from '../../infra/local/built-files.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { clientId } from '../support/identity-provider.ts';
import { type RealProvider, startRealProvider } from '../support/real-identity-provider.ts';
import { type GatewayServer, serveGateway } from '../support/serve-gateway.ts';
import { watchWindows } from './console-window.ts';

export function testSignIn(browser: Browser): void {
  describe('people sign in to the console', () => {
    let provider: RealProvider;
    let gateway: Harness;
    let server: GatewayServer;
    let origin: string;
    const windows = watchWindows(browser);
    beforeAll(async () => {
      provider = await startRealProvider(['editors']);
      gateway = await startHarness({
        models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
        workspace: { member_keys: { max: 2, rpm: 30, spend_limit_usd: '20', expires_in: '30d' } },
        access: [
          { group: 'editors', role: 'member', workspaces: ['team'] },
          { email: 'vera@example.com', role: 'viewer', workspaces: ['team'] },
          { email: 'ada@example.com', role: 'owner', workspaces: 'all' },
        ],
      });
      const settings = { issuer: provider.issuer, clientId, groupsClaim: 'groups' };
      server = await serveGateway(gateway.composition, createWholeGateway(gateway.composition, builtFiles(), settings));
      ({ origin } = new URL(server.url));
    });
    afterEach(() => windows.close());
    afterAll(async () => {
      await server.close();
      await gateway.stop();
      await provider.stop();
    });

    async function open(query = ''): Promise<Page> {
      const window = await windows.open(origin, { others: [provider.issuer] });
      await window.page.goto(`/console${query}`);
      return window.page;
    }

    async function signIn(page: Page, email: string): Promise<void> {
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('input[name=login]').fill(email);
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.waitForURL(/interaction/);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Views').waitFor();
    }
    /** Checks the accessibility of the window that was opened last. */
    async function expectReadable(): Promise<void> {
      expect(await windows.opened.at(-1)?.findAllBarriers()).toEqual([]);
    }
    const storageKeys = (page: Page) => page.evaluate<string[]>('Object.keys(sessionStorage)');
    const views = (page: Page) => page.locator('nav a').allTextContents();

    it('at their own provider, come back to the view they wanted, and the tab alone keeps the token', async () => {
      const page = await open('?view=keys');
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await expectReadable();
      await signIn(page, 'vera@example.com');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      expect(page.url()).toBe(`${origin}/console?view=keys`);
      await page.getByText('vera@example.com').waitFor();
      expect(await storageKeys(page)).toEqual(['gw-identity-token']);
      expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
      await page.reload();
      await page.getByRole('heading', { name: 'Keys' }).waitFor();

      // When the sign-in ends the page says so, and one click signs the person in again.
      await page.evaluate(`{
        const session = JSON.parse(sessionStorage.getItem('gw-identity-token'));
        sessionStorage.setItem('gw-identity-token', JSON.stringify({ ...session, endsAtMs: Date.now() }));
      }`);
      await page.reload();
      await page.getByRole('alert').getByText('Your sign-in has ended.').waitFor();
      await expectReadable();
      expect(await storageKeys(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sign in again' }).click();
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Operator key').waitFor();
      expect(await storageKeys(page)).toEqual([]);
    });

    it.each([
      ['mia@example.com', ['Overview', 'Calls', 'Keys', 'Playground']],
      [
        'vera@example.com',
        ['Overview', 'Calls', 'Workspaces', 'Keys', 'Models and providers', 'Functions', 'Playground'],
      ],
    ])('and %s sees the views of their role', async (email, expected) => {
      const page = await open('?view=models');
      await signIn(page, email);
      expect(await views(page)).toEqual(expected);
      const isOpen = expected.includes('Models and providers');
      await page
        .getByText(isOpen ? 'acme/echo' : 'Your role does not open this view')
        .first()
        .waitFor();
      await expectReadable();
    });

    it('and the form of a key has the limits that hold for them, and the number of keys that are left', async () => {
      const page = await open('?view=keys');
      await signIn(page, 'mia@example.com');
      await page.getByRole('button', { name: 'Make a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('You may make 2 more of 2 keys in workspace team.').waitFor();
      const placeholderOf = (label: string) => dialog.getByLabel(label, { exact: true }).getAttribute('placeholder');
      expect(await placeholderOf('Requests per minute')).toBe('30 (the most)');
      expect(await placeholderOf('Spend limit in USD')).toBe('20 (the most)');
      expect(await placeholderOf('Tokens per minute')).toBe('no limit');
      await dialog.getByLabel('Expires (30d from now at the latest)').waitFor();
      await expectReadable();
      await dialog.getByLabel('Name').fill('of-mia');
      await dialog.getByLabel('Requests per minute').fill('31');
      await dialog.getByRole('button', { name: 'Make the key' }).click();
      expect(await page.locator('input:invalid').getAttribute('name')).toBe('rpm');
      await dialog.getByLabel('Requests per minute').fill('');
      await dialog.getByRole('button', { name: 'Make the key' }).click();
      const row = page.getByRole('row').filter({ hasText: 'of-mia' });
      await row.getByText('30 per minute').waitFor();
      await row.getByText('$20.00').waitFor();
      await page.getByRole('button', { name: 'Make a key' }).click();
      await dialog.getByText('You may make 1 more of 2 keys').waitFor();
    });

    it('and no answer is taken that this tab did not ask for, or whose token is of another sign-in', async () => {
      const page = await open('?view=calls&code=stolen&state=forged');
      await page.getByRole('alert').getByText('was not started in this tab').waitFor();
      expect(page.url()).toBe(`${origin}/console`);
      await page.route(`${provider.issuer}/token`, async (route) => {
        const response = await route.fetch();
        const [head, claims = '', signature] = (await response.json()).id_token.split('.');
        const changedClaims = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), nonce: 'another' };
        const other = Buffer.from(JSON.stringify(changedClaims)).toString('base64url');
        await route.fulfill({ response, json: { id_token: [head, other, signature].join('.') } });
      });
      await page.getByRole('button', { name: 'Sign in again' }).click();
      await page.locator('input[name=login]').fill('vera@example.com');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').getByText('belongs to another sign-in').waitFor();
      expect(await storageKeys(page)).toEqual([]);
    });

    it('and a person without an entry reads what is missing', async () => {
      const rules = await gateway.composition.access.read();
      await gateway.composition.access.write([{ email: 'ada@example.com', role: 'owner', workspaces: 'all' }]);
      const page = await open();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('input[name=login]').fill('eve@example.com');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').getByText('eve@example.com').waitFor();
      await expectReadable();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Operator key').waitFor();
      await gateway.composition.access.write(rules);
    });
  });
}
