// `access`: who may do what on the management interface.
import * as z from 'zod';
import { type AccessRule, roles } from '../access/index.ts';
import { text } from '../value-forms/index.ts';
import { chosenBy, mapping, plainId } from './fields.ts';
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
