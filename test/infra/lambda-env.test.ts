import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '#jest';
import { readArguments } from '../../infra/local/lambda-env.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';

describe('the environment in which bundles run on this machine', () => {
  const script = join(projectRoot, 'infra/local/lambda-env.ts');
  const print = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args]);

  it('is printed as KEY=VALUE lines, and nothing else', async () => {
    const { stdout, stderr } = await print('--stage', 'local', '--dynamodb', 'http://127.0.0.1:8000/');
    expect(stderr).toBe('');
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual([
      'AWS_ACCESS_KEY_ID=local',
      'AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000',
      'AWS_REGION=us-east-1',
      'AWS_SECRET_ACCESS_KEY=local',
      'GW_STAGE=local',
    ]);
  });

  it('is not printed if a line says why not, exit 1', async () => {
    await expect(print('--stage', 'local')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^lambda-env: [^\n]+\n$/),
    });
  });

  it.each([
    ['no stage', ['--dynamodb', 'http://127.0.0.1:8000'], '--stage needs a name'],
    ['a stage that no table name can hold', ['--stage', 'a b', '--dynamodb', 'http://127.0.0.1:8000'], '--stage needs'],
    ['no server', ['--stage', 'local'], '--dynamodb needs the URL'],
    ['a server that is no URL', ['--stage', 'local', '--dynamodb', '127.0.0.1:8000'], '--dynamodb needs the URL'],
    ['an unknown option', ['--stage', 'local', '--table', 'x'], '--table'],
  ])('is not made of %s', (_case, args, reason) => {
    expect(() => readArguments(args)).toThrow(reason);
  });
});
