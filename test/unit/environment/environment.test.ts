import { describe, expect, it } from '#jest';
import { readEnvironment } from '../../../shared/foundation/environment/index.ts';

describe('the origin secret', () => {
  const hash = 'a'.repeat(64);
  const read = (text: string | undefined) => readEnvironment({ GW_STAGE: 'dev', GW_ORIGIN_SECRET_SHA256: text });

  it('is asked for where its variable holds hashes, and not where it is not set', () => {
    expect(read(undefined).originSecretHashes).toEqual([]);
    expect(read(hash).originSecretHashes).toEqual([hash]);
    expect(read(`${hash},${'b'.repeat(64)}`).originSecretHashes).toHaveLength(2);
  });

  it.each(['', ',', ' ', `${hash},`, hash.toUpperCase(), 'the-secret-itself'])(
    'stops the start where its variable is set but holds no hash: %p',
    (text) => {
      expect(() => read(text)).toThrow('GW_ORIGIN_SECRET_SHA256');
      expect(() => read(text)).not.toThrow(/aaaa|itself/i);
    },
  );
});

describe('the stream budget', () => {
  const read = (text?: string) =>
    readEnvironment({ GW_STAGE: 'dev', GW_STREAM_BUDGET_SECONDS: text }).streamBudgetSeconds;

  it('is 55 seconds where its variable is not set, else what it says', () => {
    expect([read(), read('55'), read('840')]).toEqual([55, 55, 840]);
  });

  it.each(['', '54', '841', '60.5', 'long', '-1'])(
    'stops the start where its variable says what no stage may have: %p',
    (text) => {
      expect(() => read(text)).toThrow('GW_STREAM_BUDGET_SECONDS must be a whole number from 55 to 840');
    },
  );
});
