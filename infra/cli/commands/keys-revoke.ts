// `keys revoke`: the next request with the key is refused. A revoked key stays in the list, and its spending counts.
import type { Command, Outcome, Session } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { OpenTarget } from '../open-target.ts';
import { storesOn } from '../stores.ts';
import { readPublicId } from '../values.ts';

export const keysRevokeCommand: Command<OpenTarget> = {
  name: 'keys revoke',
  summary: 'refuse a key from its next request on',
  parameters: [{ name: 'PUBLIC_ID' }],
  asks: true,
  notes: ['PUBLIC_ID is what keys list shows: the 16 characters behind sk-gw-.'],
  prepare: (input) => {
    const publicId = readPublicId('PUBLIC_ID', input.parameter('PUBLIC_ID'));
    return (session) => revokeKey(session, publicId);
  },
};

async function revokeKey(session: Session<OpenTarget>, publicId: string): Promise<Outcome> {
  const { keys } = storesOn((await session.open()).store);
  const record = await keys.read(publicId);
  if (record === undefined) throw new Error(`there is no key ${publicId}`);
  const { workspace, name } = record;
  const isRevoked = record.status === 'revoked';
  if (!isRevoked) {
    await confirm(session, `revoke key ${name} of ${workspace} (${publicId})`);
    await keys.write({ ...record, status: 'revoked' });
  }
  return {
    json: { workspace, name, public_id: publicId, status: 'revoked', change: isRevoked ? 'unchanged' : 'changed' },
    lines: () => [`key ${name} of ${workspace} (${publicId}) ${isRevoked ? 'was revoked before' : 'is revoked'}`],
  };
}
