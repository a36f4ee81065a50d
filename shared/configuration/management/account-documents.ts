// Defines answers of the management interface about access and money: sessions, keys, operators, workspaces, credit.
import * as z from 'zod/mini';
import { operatorRoles } from '../access/index.ts';
import { keySchema } from '../keys/index.ts';
import { memberKeysSchema, workspaceSettings } from '../workspaces/index.ts';
import { allOrSome, amount, count, flag, instant, instantOrNull, text, textOrNull } from './document-forms.ts';

const sessionDocument = z.object({
  name: text,
  is_person: flag.check(z.describe('False: an operator key.')),
  ends_at: instantOrNull.check(z.describe('When a sign-in ends. Null: an operator key.')),
  workspaces: z
    .object({ member: allOrSome, viewer: allOrSome, editor: allOrSome, owner: allOrSome })
    .check(z.describe('Where the role, or a higher one, is held.')),
});

const choicesDocument = z.object({
  models: z.array(text).check(z.describe('Those that a workspace of the operator allows.')),
  providers: z.array(text).check(z.describe('Empty for a member.')),
  guardrails: z.array(text),
  tag_names: z.array(text).check(z.describe('Of the tags of keys.')),
  member_keys: z
    .array(
      z.object({
        workspace: text,
        bounds: z.nullable(memberKeysSchema).check(z.describe('Null: members make no keys there.')),
        left: count.check(z.describe('Keys that the person may still make.')),
      }),
    )
    .check(z.describe('Where the person makes keys as a member.')),
});

const lastAlert = z
  .nullable(z.object({ percent: count, at: instant, is_delivered: flag }))
  .check(z.describe('The last alert of a share that was spent. Null: there was none.'));

const keyDocument = z.extend(keySchema, {
  public_id: text,
  workspace: text,
  state: z
    .enum(['active', 'ending', 'expired', 'revoked'])
    .check(z.describe('`ending`: it was rotated, and goes on until `expires_at`.')),
  owner: textOrNull.check(z.describe('The person who made it for themselves. Null: an operator made it.')),
  expires_at: instantOrNull,
  spent_usd: amount.check(z.describe('With a spend limit or without; with a reset, in the present period.')),
  held_usd: amount,
  last_alert: lastAlert,
  replaced_by: textOrNull,
});
const newKeyDocument = z.extend(keyDocument, {
  key: text.check(z.describe('Its text: in this answer only.')),
});

const rotatedKeyDocument = z.extend(newKeyDocument, {
  former: z
    .object({ public_id: text, expires_at: instant })
    .check(z.describe('The key that was rotated, and when it ends.')),
});

const operatorDocument = z.object({
  public_id: text,
  name: text,
  status: z.enum(['active', 'revoked']),
  role: z.enum(operatorRoles),
  workspaces: allOrSome,
  created_at: instant,
});
const newOperatorDocument = z.extend(operatorDocument, {
  key: text.check(z.describe('Its text: in this answer only.')),
});

const workspaceDocument = z.extend(workspaceSettings, {
  id: text,
  granted_usd: amount,
  spent_usd: amount,
  held_usd: amount.check(z.describe('By calls that may still be running.')),
  available_usd: amount.check(z.describe('Neither spent nor held: with both, what was granted.')),
  under_spend_limit_usd: z.nullable(amount).check(z.describe('What the spend limit leaves. Null: there is none.')),
  last_credit_alert: lastAlert,
  last_limit_alert: lastAlert,
});
const creditDocument = z.object({
  id: text,
  amount_usd: amount,
  change: z.enum(['added', 'unchanged']),
  workspace: workspaceDocument,
});

const additionDocument = z.object({
  id: textOrNull.check(z.describe('Null: the first grant, with all that was added more than 30 days ago.')),
  amount_usd: amount,
  time: instantOrNull,
});

export const accountDocuments = {
  ManagedSession: sessionDocument,
  ManagedChoices: choicesDocument,
  ManagedKey: keyDocument,
  NewKey: newKeyDocument,
  RotatedKey: rotatedKeyDocument,
  ManagedOperator: operatorDocument,
  NewOperator: newOperatorDocument,
  ManagedWorkspace: workspaceDocument,
  ManagedCredit: creditDocument,
  ManagedAddition: additionDocument,
};
