import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

describe('a function alias', () => {
  it('names a function, or a function and one revision of it', () => {
    fc.assert(
      fc.property(id, id, (functionId, revisionId) => {
        expect(parseFunctionAlias(`gw/function/${functionId}`)).toEqual({ functionId, revisionId: undefined });
        expect(parseFunctionAlias(`gw/function/${functionId}@${revisionId}`)).toEqual({ functionId, revisionId });
      }),
    );
  });

  it.each([
    'gw/function/',
    'gw/function/f@',
    'gw/function/@r',
    'gw/function/f@r@s',
    'gw/function/f/g',
    'gw/function/f r',
    'gw/function/f\n',
    'gw/functions/f',
    'GW/function/f',
    ' gw/function/f',
    `gw/function/${'f'.repeat(65)}`,
    `gw/function/f@${'r'.repeat(65)}`,
    'f',
    '',
  ])('of another form is none: %j', (model) => {
    expect(parseFunctionAlias(model)).toBeUndefined();
  });
});
