import { describe, expect, it } from '#jest';
import { readOwner } from '../../../infra/cli/args/option-values.ts';
import { grantsOf, ownerOf } from '../../../shared/configuration/access/index.ts';

describe('an e-mail address', () => {
  const rules = [{ email: 'Kate@Example.com', role: 'viewer' as const, workspaces: ['team'] }];
  const rightsOf = (email: string) => grantsOf(rules, { subject: 's', email, groups: [] }).length;

  it('is the same in either case of its letters', () => {
    expect([rightsOf('kate@example.com'), rightsOf('KATE@EXAMPLE.COM')]).toEqual([1, 1]);
    expect(ownerOf({ subject: 's', email: 'KATE@example.com' })).toBe('kate@example.com');
  });

  it('is another person’s if a letter only looks like one of ASCII: the sign of Kelvin, a long s', () => {
    const kelvin = '\u212aate@example.com';
    expect([rightsOf(kelvin), rightsOf('kate@e\u017fample.com')]).toEqual([0, 0]);
    expect(ownerOf({ subject: 's', email: kelvin })).not.toBe('kate@example.com');
    // A command for one person does not reach the other either, because the same rule names both.
    for (const email of [kelvin, 'KATE@example.com']) {
      expect(readOwner('--owner', email)).toBe(ownerOf({ subject: 's', email }));
    }
  });
});
