// The command that looks for changes in packages: which tests and packages it selects, and which versions its copy
// resolves.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from '#jest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyProject, driftTests, interfacePackages } from './newest-packages.ts';

it('every test that reads types or catalogues of packages is run, with the packages of interfaces alone', () => {
  expect(driftTests()).toEqual(
    expect.arrayContaining([
      join('test', 'unit', 'formats', 'models-of-packages.test.ts'),
      join('test', 'unit', 'interfaces', 'stored-input-of-sdks.test.ts'),
      join('test', 'unit', 'interfaces', 'unions-of-sdks.test.ts'),
    ]),
  );
  const names = [...interfacePackages().keys()];
  expect(names).toEqual(expect.arrayContaining(['openai', '@anthropic-ai/sdk', '@ai-sdk/anthropic']));
  expect(names.filter((name) => /^(jest|zod|typescript|aws-cdk)/.test(name))).toEqual([]);
});

it('a copy of the project has another version if one is given, and the installed ones elsewhere', () => {
  const folder = temporaryFolder();
  const newest = join(folder, 'openai');
  mkdirSync(newest);
  writeFileSync(join(newest, 'package.json'), JSON.stringify({ name: 'openai', version: '999.0.0' }));
  const copy = join(folder, 'project');
  copyProject(copy, new Map([['openai', newest]]), ['package.json']);
  const load = createRequire(join(copy, 'package.json'));
  expect(load('./node_modules/openai/package.json')).toMatchObject({ version: '999.0.0' });
  expect(load('./node_modules/@anthropic-ai/sdk/package.json')).toMatchObject({ name: '@anthropic-ai/sdk' });
});
