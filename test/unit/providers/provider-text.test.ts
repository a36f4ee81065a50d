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
});
