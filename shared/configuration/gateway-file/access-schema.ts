// `access`: who may do what on the management interface. `member_keys`: what keys members of a workspace make for themselves.
import * as z from 'zod';
import { spendLimitResets } from '../../accounting/holds/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { type AccessRule, roles } from '../access/index.ts';
import { chosenBy, limit, mapping, plainId, positiveInteger, quotedDecimal, text } from './fields.ts';
import { isMapping } from './yaml-source.ts';

/** More would be read with every request of a person. */
const rulesMax = 1_000;
const workspacesMax = 256;

const workspaces = chosenBy<'all' | string[]>((input) =>
  Array.isArray(input)
    ? z.array(plainId).min(1, { error: 'must name a workspace' }).max(workspacesMax)
    : z.literal('all', { error: 'must be all or a list of workspace ids' }),
);
const grant = {
  role: z.enum(roles, { error: `must be one of ${roles.join(', ')}` }),
  workspaces,
};
const email = z.email({ error: 'must be an e-mail address' }).max(254);
const toGroup = mapping('access[]', { group: text(256), ...grant });
const toPerson = mapping('access[]', { email, ...grant });
const rule = chosenBy<AccessRule>((input) => {
  if (!isMapping(input)) return z.never({ error: 'must be a mapping with group or email, role and workspaces' });
  if ('group' in input && 'email' in input) return z.never({ error: 'must have a group or an email, not both' });
  return 'email' in input ? toPerson : toGroup;
});

export const accessSection = z
  .array(rule)
  .max(rulesMax, { error: `must not hold more than ${rulesMax} entries` })
  .optional();

const usd = quotedDecimal.refine((written) => parseUsd(written) !== undefined, {
  error: 'must be an amount of USD such as "25.00"',
});
const expiresIn = z.string().regex(/^[1-9]\d{0,4}[hdw]$/, { error: 'must be a length of time such as 12h, 30d or 8w' });

export const memberKeys = mapping('workspaces[].member_keys', {
  max: positiveInteger.optional(),
  rpm: limit.optional(),
  concurrency: limit.optional(),
  spend_limit_usd: usd.nullable().optional(),
  spend_limit_reset: z.enum(spendLimitResets).nullable().optional(),
  expires_in: expiresIn.nullable().optional(),
}).nullable();
