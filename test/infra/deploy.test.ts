import { execFile } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { readDeployOptions } from '../../infra/cdk/deploy.ts';

const stages = ['dev', 'prod'];
const script = new URL('../../infra/cdk/deploy.ts', import.meta.url).pathname;

describe('the arguments of a deployment', () => {
  it('name one stage, and everything else is handed to cdk as it was', () => {
    const args = ['--stage', 'dev', '--require-approval', 'never', '--outputs-file=out.json', '-v'];
    expect(readDeployOptions(args, stages)).toEqual({
      stage: 'dev',
      flags: ['--require-approval', 'never', '--outputs-file=out.json', '-v'],
    });
  });

  it('choose edge and compute as context, wherever they stand', () => {
    const args = ['--edge=none', '--hotswap', '--compute', 'web', '--stage=prod'];
    expect(readDeployOptions(args, stages)).toEqual({
      stage: 'prod',
      flags: ['--context', 'edge=none', '--context', 'compute=web', '--hotswap'],
    });
  });

  it.each([
    ['no stage', [], '--stage is missing (known: dev, prod)'],
    ['a stage without a name', ['--stage'], '--stage needs a value'],
    ['a stage that is in no settings', ['--stage', 'test'], 'there is no stage test (known: dev, prod)'],
  ])('stop at %s', (_case, args, message) => {
    expect(() => readDeployOptions(args, stages)).toThrow(message);
  });
});

describe('the deploy script', () => {
  it('stops with one line and a failure before it builds anything', async () => {
    const outcome = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(process.execPath, [script, '--stage', 'nowhere'], (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      });
    });
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^deploy: there is no stage nowhere [^\n]+\n$/);
  });
});
