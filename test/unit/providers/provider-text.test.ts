import { describe, expect, it } from '#jest';
import { describeProviderText } from '../../../shared/routing/providers/index.ts';

const describeText = (body: unknown) => describeProviderText(body, []);

describe('what a provider says of its failure', () => {
  it.each([
    [{ error: { code: 'model_not_found', message: 'No such model' } }, 'model_not_found: No such model'],
    [{ error: { type: 'overloaded_error', code: null, message: 'Overloaded' } }, 'overloaded_error: Overloaded'],
    [{ error: 'model runner has stopped' }, 'model runner has stopped'],
    [{ message: 'Input is too long.' }, 'Input is too long.'],
    [{ detail: [{ msg: 'field required' }] }, '{"detail":[{"msg":"…"}]}'],
    ['<html><body><h1>502 Bad Gateway</h1>\nnginx</body></html>', '502 Bad Gateway nginx'],
    [[1], '[1]'],
    ['', undefined],
    [undefined, undefined],
  ])('%j is read as %j', (body, text) => {
    expect(describeText(body)).toBe(text);
  });

  it('keeps quoted names and no quoted sentence', () => {
    expect(describeText("Invalid value: 'robot'. It isn't one of 'user', 'tool'.")).toBe(
      "Invalid value: 'robot'. It isn't one of 'user', 'tool'.",
    );
    expect(describeText('Flagged: "how do I rob a bank" and \'my other secret\' and `a b`')).toBe(
      'Flagged: "…" and "…" and "…"',
    );
    expect(describeText('Flagged: "a sentence that is cut')).toBe('Flagged: "…"');
  });

  it('is cut, in one line, and steers no terminal', () => {
    const text = describeText(`a\r\n\u001b[31mb ${'word '.repeat(10_000)}`) ?? '';
    expect(text).toMatch(/^a \[31mb word .*…$/);
    expect(text).toHaveLength(300);
  });

  it('holds nothing of the credential it was called with, also where that stands at the cut', () => {
    const secret = 'open-sesame';
    // A quoted sentence becomes one character, so that what stands far behind comes into sight.
    const quoted = `"${'x '.repeat(985)}"`;
    for (const before of ['', 'x '.repeat(145), quoted, `${quoted} y `, `${quoted} y y y y `]) {
      const text = describeProviderText(`${before}${secret} ${secret} end`, [secret]) ?? '';
      expect(text).not.toMatch(/open|sesame/);
      const key = 'a1b2c3d4e5f6a7b8c9d0e1f2';
      expect(describeProviderText(`${before}${key} ${key}`, [])).not.toMatch(/a1b2c3/);
    }
  });

  // Letters, digits and every sign that one of the three escapes; without a digit it looks like no key.
  const secret = 'open/sesame+door="quiet&green"<house>';
  const escapeAll = (form: (code: number) => string) => (text: string) =>
    [...text].map((character) => form(character.charCodeAt(0))).join('');
  const percent = escapeAll((code) => `%${code.toString(16)}`);
  const entities = escapeAll((code) => `&#x${code.toString(16)};`);
  const unicode = escapeAll((code) => `\\u00${code.toString(16)}`);
  const named = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

  it.each<[string, unknown]>([
    ['as it is', `key ${secret} wrong`],
    ['in JSON', JSON.stringify({ nested: JSON.stringify({ key: secret }) })],
    ['with every character escaped for JSON', `{"key":"${unicode(secret)}"`],
    ['with a slash escaped', `key ${secret.replaceAll('/', String.raw`\/`)}`],
    ['in a URL', `https://host/path?a=1#${encodeURIComponent(secret)}`],
    ['with every character escaped for a URL', `at ${percent(secret)}`],
    ['escaped for a URL twice', `at ${encodeURIComponent(percent(secret))}`],
    ['in HTML', `<p>key ${named(secret)}</p>`],
    ['in HTML twice', `<p>key ${named(named(secret))}</p>`],
    ['with every character escaped for HTML', `<p>${entities(secret)}</p>`],
    ['escaped for a URL in HTML', `<p>${entities(percent(secret))}</p>`],
    ['in capitals', `KEY ${secret.toUpperCase()}`],
    ['in two texts', { error: { message: [{ text: secret.slice(0, 9) }, { text: secret.slice(9) }] } }],
    ['in texts of a character each', { detail: [...secret] }],
    ['in code and message', { error: { code: 'opensesamedoor', message: `quietgreenhouse` } }],
    ['with a sign between its pieces', secret.match(/.{1,12}/g)?.join(' | ')],
    ['as the name of a member', { [secret]: 1 }],
    ['twice, behind a long text', `${'word '.repeat(50)}${percent(secret)}${secret}`],
  ])('holds nothing of a credential %s', (_how, body) => {
    const text = describeProviderText(body, [secret]) ?? '';
    const plain = decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '')).replace(/[^a-z]/gi, '');
    expect(plain).not.toMatch(/sesam|esame|quiet|green|house/i);
    expect(text).not.toMatch(/%6|u006|&#x/);
    expect(text).toContain('…');
  });

  it('reads what stands beside a masked credential, and what only resembles one', () => {
    expect(describeProviderText(`Key ${encodeURIComponent(secret)} is not known.`, [secret])).toBe(
      'Key … is not known.',
    );
    const body = { error: { message: 'Open the house: 50% off &amp; \\u0041' } };
    expect(describeProviderText(body, [secret])).toBe('Open the house: 50% off &amp; \\u0041');
  });

  it('is looked at in part however much a provider says', () => {
    const nested = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;
    expect(describeProviderText({ detail: nested, more: Array(50_000).fill('x') }, [secret])).toMatch(/^\{"detail":/);
    const long = describeProviderText(`${'x '.repeat(1_000_000)}${secret}`, [secret]) ?? '';
    expect(long).toHaveLength(300);
  });
});
