import { execFile } from 'node:child_process';
import { describe, expect, it } from '#jest';

const script = new URL('../../infra/local/lambda-env.ts', import.meta.url).pathname;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });

describe('lambda-env', () => {
  it('prints the environment of the bundles as KEY=VALUE lines, and nothing else', async () => {
    const { code, stdout, stderr } = await run('--stage', 'local', '--dynamodb', 'http://127.0.0.1:8000/');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual([
      'AWS_ACCESS_KEY_ID=local',
      'AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000',
      'AWS_REGION=us-east-1',
      'AWS_SECRET_ACCESS_KEY=local',
      'GW_STAGE=local',
    ]);
  });

  it.each([
    ['no stage', ['--dynamodb', 'http://127.0.0.1:8000']],
    ['a stage that no table name can hold', ['--stage', 'a b', '--dynamodb', 'http://127.0.0.1:8000']],
    ['no server', ['--stage', 'local']],
    ['a server that is no URL', ['--stage', 'local', '--dynamodb', '127.0.0.1:8000']],
    ['an unknown option', ['--stage', 'local', '--table', 'x']],
  ])('stops with one line at %s and prints no environment', async (_case, args) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^lambda-env: [^\n]+\n$/);
  });
});
