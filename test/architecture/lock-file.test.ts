import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { projectRoot } from '../support/source-files.ts';

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the lock file', () => {
  // npm leaves out platform packages that the registry in use does not carry, and then `npm ci` refuses the whole file.
  it('lists the packages of every platform, so that a fresh install works on each of them', () => {
    const text = readFileSync(join(projectRoot, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          packages[`${path}/node_modules/${name}`] === undefined && packages[`node_modules/${name}`] === undefined,
      ),
    );
    expect(missing).toEqual([]);
  });
});
