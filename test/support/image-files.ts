// The files that a Dockerfile of the project would copy into an image, found without building it.
import { globSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** An instruction as `[name, rest]`, with continued lines joined. */
export type Instruction = readonly [string, string];

/** Returns the instructions of one image of the file. */
export function imageInstructions(dockerfile: string, image: string): readonly Instruction[] {
  const all = dockerfile
    .replaceAll(/^#.*$/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line): Instruction[] => {
      const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [[name, rest]];
    });
  const first = all.findIndex(([name, rest]) => name === 'FROM' && rest.endsWith(` AS ${image}`));
  const next = all.findIndex(([name], at) => at > first && name === 'FROM');
  return all.slice(first, next === -1 ? undefined : next);
}

/**
 * Copies the files that its COPY instructions name from the folder that it is built from. Files for a folder other than
 * its working folder are only named.
 */
export async function copiedByImage(instructions: readonly Instruction[], folder: string): Promise<string> {
  const image = temporaryFolder();
  for (const [, rest] of instructions.filter(([name]) => name === 'COPY')) {
    const [target = '', ...sources] = rest
      .split(' ')
      .filter((word) => !word.startsWith('--'))
      .reverse();
    for (const source of sources) {
      for (const name of globSync(source, { cwd: folder })) {
        const isFolder = statSync(join(folder, name)).isDirectory();
        await cp(join(folder, name), isFolder ? join(image, target) : join(image, target, name), { recursive: true });
      }
    }
  }
  return image;
}
