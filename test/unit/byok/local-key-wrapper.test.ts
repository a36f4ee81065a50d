import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '#jest';
import { localKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { place, vaultOn } from './support.ts';

let root: string;
beforeEach(() => {
  root = temporaryFolder();
});

const permissions = (path: string): number => statSync(path).mode & 0o777;

describe('the master key of a local run', () => {
  it('is made once in a file of its owner alone, and opens after a restart what was sealed before', async () => {
    const folder = join(root, 'made', 'on-demand');
    const sealed = await vaultOn(localKeyWrapper({ folder })).seal(place, 'key');
    const [name = '', ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    expect([permissions(join(folder, name)), permissions(folder)]).toEqual([0o600, 0o700]);
    const bytes = readFileSync(join(folder, name));
    expect(bytes).toHaveLength(32);
    expect(await vaultOn(localKeyWrapper({ folder })).open(place, sealed)).toBe('key');
    expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
  });

  it('is the one of the gateway that was first, when two start on one folder at the same moment', async () => {
    const folder = join(root, 'shared');
    let winner: ReturnType<typeof localKeyWrapper> | undefined;
    // The second one starts while the first is about to put its file there.
    const randomness = {
      ...systemRandomness,
      uuid: () => {
        winner ??= localKeyWrapper({ folder });
        return systemRandomness.uuid();
      },
    };
    const loser = localKeyWrapper({ folder, randomness });
    if (winner === undefined) throw new Error('no process won');
    const sealed = await vaultOn(winner).seal(place, 'key');
    expect(await vaultOn(loser).open(place, sealed)).toBe('key');
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('without a folder ends with its wrapper and touches no disk', async () => {
    const sealed = await vaultOn(localKeyWrapper()).seal(place, 'key');
    await expect(vaultOn(localKeyWrapper()).open(place, sealed)).rejects.toThrow('does not open');
    expect(readdirSync(root)).toEqual([]);
  });

  it('of a wrong length stops the start with the name of its file, and is left alone', () => {
    localKeyWrapper({ folder: root });
    const path = join(root, readdirSync(root)[0] ?? '');
    writeFileSync(path, 'short');
    expect(() => localKeyWrapper({ folder: root })).toThrow(path);
    expect(readFileSync(path, 'utf8')).toBe('short');
  });
});
