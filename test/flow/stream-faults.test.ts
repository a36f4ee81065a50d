// Every way in which a stream can break. Before the first output no client sees it: the next provider answers, or the
// client gets a JSON error. After it, the stream has one error line, the end marker, and no second provider.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type FaultGateway, startFaultGateway } from '../support/fault-gateway.ts';
import type { Harness } from '../support/harness.ts';
import { readWhole } from '../support/read-stream.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';

const promptTooLong = 'error-200:context_length_exceeded';

/** Behaviours of the provider, with what a client gets if no other provider can answer. */
const beforeOutput: readonly [upstream: string, status: number, code: string][] = [
  ['error-400', 400, 'invalid_request'],
  ['error-413', 400, 'invalid_request'],
  ['error-422', 400, 'invalid_request'],
  ['error-429', 429, 'rate_limited'],
  ['error-200:rate_limit_exceeded', 429, 'rate_limited'],
  [promptTooLong, 400, 'invalid_request'],
  ['error-after-role:rate_limit_exceeded', 429, 'rate_limited'],
  ...[
    'error-401',
    'error-402',
    'error-403',
    'error-404',
    'error-408',
    'error-409',
    'error-500',
    'error-502',
    'error-503',
    'error-529',
    'error-429:insufficient_quota',
    'error-html',
    'error-empty',
    'error-200',
    'error-leak',
    'redirect',
    'reset',
    'reset-after-headers',
    'error-after-role',
    'cut:0',
    'cut-clean:0',
    'garbage:0',
    'role-only',
    'empty-stream',
    'no-choices',
  ].map((upstream): [string, number, string] => [upstream, 502, 'no_available_provider']),
];

/**
 * Each format reads failures in its own way, so every format has these; that the next provider answers is one rule for
 * all formats.
 */
const replacedInEach = ['error-500', 'error-after-role', 'cut:0', 'garbage:0'];
/** Matches faults of a status or a connection, which are read before the body's format matters. */
const toldBeforeTheBody = /^error-(402|403|404|408|409|502|503|529|html|empty)$|^re(direct|set)/;

const afterOutput: readonly [upstream: string, code: string][] = [
  ['error-after-chunks:3', 'no_available_provider'],
  ['error-after-chunks:1:rate_limit_exceeded', 'rate_limited'],
  ['error-after-chunks:2:context_length_exceeded', 'invalid_request'],
  ['error-after-chunks:2:invalid_api_key', 'no_available_provider'],
  ['cut:1', 'no_available_provider'],
  ['cut:5', 'no_available_provider'],
  ['cut-clean:3', 'no_available_provider'],
  ['garbage:3', 'no_available_provider'],
];

const finished = 'json-instead-of-stream';

describe.each([...spokenInterfaces, ...translatedInterfaces])(
  'a stream of $name that breaks',
  ({ hello, contentOf, brokenWith, unplayed, unplayedInStreams, start, ...speaks }) => {
    const isChat = speaks.name === 'chat completions';
    const failing = beforeOutput.filter(
      ([upstream]) =>
        (isChat || !toldBeforeTheBody.test(upstream)) && ![...unplayed, ...unplayedInStreams].includes(upstream),
    );
    const replaced = isChat ? failing.map(([upstream]) => upstream) : replacedInEach;
    let gateway: Harness;
    let faults: FaultGateway;

    beforeAll(async () => {
      faults = await startFaultGateway({
        speaks,
        alone: failing.map(([upstream]) => upstream),
        backed: [...replaced, ...afterOutput.map(([upstream]) => upstream), finished],
        good: { output_price_per_million: '9.00' },
      });
      ({ gateway } = faults);
    });
    afterAll(() => faults.stop());

    const post = (model: string) => gateway.post(hello(model, { stream: true }));

    it.each(replaced)('before its output is answered by the next provider, unseen: %s', async (upstream) => {
      gateway.simulator.clear();
      const { text, headers } = await readWhole(await post(`backed/${upstream}`));
      expect(contentOf(text)).toContain('simulated by the provider good');
      expect(brokenWith(text)).toBeUndefined();
      expect(text.split(start)).toHaveLength(2);
      expect(headers.get('x-gw-provider')).toBe('good');
      expect(faults.calledProviders()).toEqual(['bad', 'good']);
    });

    it.each(failing)(
      'before its output is a JSON error if no other provider is left: %s',
      async (upstream, status, code) => {
        gateway.simulator.clear();
        const response = await post(`alone/${upstream}`);
        const text = await response.clone().text();
        if (speaks.id === 'responses' && upstream === promptTooLong) {
          // Clients of Responses look for this reason only in a stream that failed.
          expect([response.status, brokenWith(text)]).toEqual([200, 'context_length_exceeded']);
          expect(faults.calledProviders()).toEqual(['bad']);
          faults.expectSent(upstream);
          return;
        }
        const { reason } = JSON.parse(text) as { reason?: string };
        await expectError(response, status, code, reason === undefined ? {} : { reason });
        expect(text).not.toMatch(/canary|Incorrect API key|nginx|warming up/);
        expect(faults.calledProviders()).toEqual(['bad']);
        faults.expectSent(upstream);
      },
    );

    it('in form only is served, charged as reported, and no other provider is called', async () => {
      await gateway.settled();
      const spent = await expectBalancedBooks(gateway);
      gateway.simulator.clear();
      const response = await post(`backed/${finished}`);
      const { text } = await readWhole(response);
      expect([contentOf(text), brokenWith(text)]).toEqual([
        expect.stringContaining('simulated by the provider bad'),
        undefined,
      ]);
      await gateway.settled();
      expect(faults.calledProviders()).toEqual(['bad']);
      expect(await expectBalancedBooks(gateway)).toBeGreaterThan(spent);
    });

    it.each(afterOutput)(
      'after its output ends with one error line and no second provider: %s',
      async (upstream, code) => {
        gateway.simulator.clear();
        const { text } = await readWhole(await post(`backed/${upstream}`));
        expect(brokenWith(text)).toBe(code);
        expect(contentOf(text).length).toBeGreaterThan(0);
        expect(text).not.toMatch(/"(finish|stop)_reason":"/);
        expect(text).not.toMatch(/canary|Incorrect API key|server had an error|Rate limit reached|maximum context/);
        expect(faults.calledProviders()).toEqual(['bad']);
        faults.expectSent(upstream);
      },
    );
  },
);
