// The gateway as a person starts it: in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { builtPrograms } from './built-programs.ts';

export const projectRoot = join(import.meta.dirname, '../..');

export interface RunningGateway {
  /** Base URL; ends in /v1. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Returns everything that it has written to standard output, and to standard error, until now. */
  readonly out: () => string;
  readonly error: () => string;
  stop(): Promise<void>;
}

/** Runs `npm start -- …` in `folder`. */
export async function startGateway(
  line: string,
  folder: string,
  variables: Record<string, string> = {},
): Promise<RunningGateway> {
  const child = await startScript(
    'infra/local/main.ts',
    ['--port', '0', ...line.split(' ').filter(Boolean)],
    folder,
    variables,
  );
  let [out, error] = ['', ''];
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      // With `--log json` the gateway prints this on standard error.
      const ready = /^ready (\S+)$/m.exec(`${out}\n${error}`)?.[1];
      if (ready !== undefined) resolve(ready);
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      look();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      error += chunk.toString();
      look();
    });
    child.once('exit', () => reject(new Error(`the gateway ended: ${out}${error}`)));
  });
  return {
    url,
    process: child,
    out: () => out,
    error: () => error,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Returns an environment without the machine's own AWS configuration. */
export function bareShell(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: '/dev/null' };
}

/** Starts a script from its bundle, even if `variables` have options for Node. */
export async function startScript(
  script: string,
  args: readonly string[],
  cwd: string,
  variables: Record<string, string>,
): Promise<ChildProcess> {
  const programs = await builtPrograms();
  const NODE_OPTIONS = [programs.NODE_OPTIONS, variables.NODE_OPTIONS].filter(Boolean).join(' ');
  const env = { ...bareShell(), ...programs, ...variables, NODE_OPTIONS };
  return spawn(process.execPath, [join(projectRoot, script), ...args], { cwd, env, stdio: 'pipe' });
}
