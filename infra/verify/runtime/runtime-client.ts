// Lambda's own runtime client for Node, which no project should depend on: it builds curl from source as it is
// installed. So it is installed for this test alone, outside the lock file, and kept for the next time.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const version = '4.0.2';
const projectRoot = resolve(import.meta.dirname, '../../..');
const folder = join(projectRoot, 'node_modules/.cache', `gw-runtime-client-${version}`);
const clientFolder = join(folder, 'node_modules/aws-lambda-ric');
/** Its build takes two minutes on a small machine. */
const installTimeoutMs = 600_000;
const loadTimeoutMs = 10_000;
const reasonMaxCharacters = 200;

export type RuntimeClient =
  | { readonly kind: 'ready' /** What Node is started with. */; readonly main: string }
  /** In one line. */
  | { readonly kind: 'absent'; readonly reason: string };

/** Never rejects: a machine without compilers has no such client, and that is no fault of what is tested. */
export async function findRuntimeClient(say: (line: string) => void): Promise<RuntimeClient> {
  const main = join(clientFolder, 'index.mjs');
  if (!existsSync(main)) {
    say(`installing aws-lambda-ric ${version}, which compiles curl: a few minutes`);
    const failure = await install();
    if (failure !== undefined) return { kind: 'absent', reason: `it could not be installed (${failure})` };
  }
  const failure = await load();
  if (failure !== undefined) return { kind: 'absent', reason: `its addon does not load (${failure})` };
  return { kind: 'ready', main };
}

function install(): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  return failureOf('npm', [...args, `aws-lambda-ric@${version}`], installTimeoutMs);
}

/** In a process of its own: an addon for another platform may end the process that loads it. */
const load = (): Promise<string | undefined> =>
  failureOf(
    process.execPath,
    ['--eval', 'require(process.argv[1])', join(clientFolder, 'rapid-client.node')],
    loadTimeoutMs,
    // It reads the address as it is loaded, and calls it later.
    { AWS_LAMBDA_RUNTIME_API: '127.0.0.1:1' },
  );

async function failureOf(
  command: string,
  args: readonly string[],
  timeout: number,
  variables: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  try {
    await promisify(execFile)(command, args, { cwd: projectRoot, timeout, env: { ...process.env, ...variables } });
    return undefined;
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    const lines = `${stderr}\n${message}`.split('\n').map((line) => line.replace(/^npm error /, '').trim());
    const telling =
      lines.find((line) => /error:|not (found|installed)/i.test(line)) ?? lines.find((line) => line !== '');
    return (telling ?? 'no reason given').slice(0, reasonMaxCharacters);
  }
}
