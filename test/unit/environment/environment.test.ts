import { describe, expect, it } from '@jest/globals';
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
