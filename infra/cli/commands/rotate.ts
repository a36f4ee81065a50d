// `keys rotate`: a second key beside the first, which ends when every client had the time to take the new one.
import { rotateKey } from '../../../shared/configuration/administration/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readText, readTime, UsageError } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { openAdministration } from '../target/stores.ts';
import { expiresForm, readExpires } from './key-options.ts';
import { keyNote, readNamedKey, toNamedKey, workspaceOfName } from './named-key.ts';

const graceDefaultMs = 24 * 3_600_000;
/** A key that should live on longer needs no successor yet. */
const graceMaxMs = 366 * 24 * 3_600_000;

export function addRotate(keys: CommandLine): void {
  keys
    .command('rotate')
    .description('make a second key beside an active one, which ends after a while')
    .takesArgument('KEY', readText)
    .takesOption('--workspace <W>', workspaceOfName, readId)
    .takesOption('--grace <TIME>', 'how long the former key goes on: 90s, 15m, 24h, 7d; left out: 24h', readGrace)
    .takesOption('--expires <WHEN>', `of the new key: ${expiresForm}, or none; left out: as the former`, readExpires)
    .notes(
      keyNote,
      'The new key has the name, the limits and the rules of the former, and what that one has spent counts on it too.',
      'From then on a gateway file, keys rotate and export mean the new key by the name.',
    )
    .does(rotate);
}

function readGrace(name: string, text: string): number {
  const graceMs = readTime(text);
  if (graceMs !== undefined && graceMs <= graceMaxMs) return graceMs;
  throw new UsageError(`${name} is a length of time of at most a year: 90s, 15m, 24h, 7d`);
}

interface RotateOptions {
  readonly expires?: ReturnType<typeof readExpires>;
  readonly workspace?: string;
  readonly grace?: number;
}

async function rotate(session: Session, key: string, options: RotateOptions): Promise<Outcome> {
  const { expires, grace: graceMs = graceDefaultMs } = options;
  const named = toNamedKey(key, options.workspace);
  const expiresAtMs = typeof expires === 'function' ? Date.parse(expires(session)) : expires && null;
  const administration = await openAdministration(session, { writes: true });
  const { workspace, name, publicId: replaced } = await readNamedKey(administration, named);
  const rotated = await rotateKey(administration, { workspace, name, publicId: replaced, graceMs, expiresAtMs });
  const { publicId, text, former } = rotated;
  const ends = instantOf(former.expiresAtMs);
  return {
    json: {
      workspace,
      name,
      public_id: publicId,
      key: text,
      expires_at: instantOf(rotated.expiresAtMs),
      former: { public_id: former.publicId, expires_at: ends },
    },
    lines: () => [`the former key ${former.publicId} ends ${ends}`, `key ${name} of ${workspace} (shown once):`, text],
  };
}
