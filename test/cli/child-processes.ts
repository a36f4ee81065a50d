// The operator's command line in processes of its own, as a person starts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { bareShell, projectRoot, startScript } from '../support/gateway-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { operate } from './operator.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs `npm run gw -- …` in `folder`. `input` is its standard input. */
export async function operateProcess(
  line: string,
  { folder, input = '', variables = {} }: { folder: string; input?: string; variables?: Record<string, string> },
): Promise<Ended> {
  const child = await startScript('infra/cli/main.ts', line.split(' '), folder, variables);
  let [out, error] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk.toString();
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, error };
}

export interface Shell {
  /** Returns the lines that a command prints on both outputs. */
  run(command: string): Promise<string[]>;
  stop(): void;
}

/**
 * Starts one bash in the folder of the project, so that a command sees the variables and functions of earlier commands.
 * Lines of `npm run gw` run in this process, because forty processes would take most of a session's time. `beforeLine`
 * gets the number of requests that curl has sent by then.
 */
export function startShell(beforeLine: (requests: number) => Promise<void>): Shell {
  const stdio = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd: projectRoot, env: bareShell(), stdio: [...stdio] });
  const folder = temporaryFolder();
  const requestLog = join(folder, 'requests');
  writeFileSync(requestLog, '');
  answerLines(child.stdio[3] as Duplex, child.stdio[4] as Duplex, folder, () => beforeLine(statSync(requestLog).size));
  let text = '';
  let onText = () => {};
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      onText();
    });
  }
  child.stdin?.write(`curl() { printf . >>"${requestLog}"; command curl "$@"; }
  npm() {
    [ "$1 $2 $3 $4" = "run --silent gw --" ] || return 127
    shift 4
    printf '%s\\0' "$@" '' >&3
    local code; read -r code <&4
    cat "${folder}/error" >&2; cat "${folder}/out"; return "$code"
  }
`);
  const end = '--- end of the command ---';
  return {
    run(command) {
      text = '';
      child.stdin?.write(`{ ${command}\n} 2>&1 </dev/null\necho; echo "${end}"\n`);
      return new Promise((resolve) => {
        onText = () => {
          if (text.includes(end)) resolve(text.slice(0, text.indexOf(end)).trimEnd().split('\n').filter(Boolean));
        };
      });
    },
    stop: () => child.kill(),
  };
}

/**
 * Runs each line; an empty word ends the words of a line. The output is in two files when the exit code is answered.
 */
function answerLines(lines: Duplex, codes: Duplex, folder: string, before: () => Promise<void>): void {
  let text = '';
  lines.on('data', async (chunk: Buffer) => {
    text += chunk.toString();
    if (!text.endsWith('\0\0')) return;
    const words = text.slice(0, -2).split('\0');
    text = '';
    await before();
    const { code, out, error } = await operate(words, { variables: bareShell() });
    for (const [name, content] of Object.entries({ out, error })) {
      writeFileSync(join(folder, name), content === '' ? '' : `${content}\n`);
    }
    codes.write(`${code}\n`);
  });
}
