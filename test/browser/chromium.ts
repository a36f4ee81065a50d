// Chromium from an npm package, which is built for linux-x64 and contains every library that it needs there.
import { type Browser, chromium } from 'playwright-core';

const platform = `${process.platform}-${process.arch}`;
const builtFor = 'linux-x64';

/**
 * On a machine without a language, Chromium reports `en-US@posix`, which is no language tag; a window may set another
 * language.
 */
const environment = { LANGUAGE: '', LC_ALL: 'C', LANG: 'C' };

/**
 * Chromium runs without a sandbox, which takes rights of the kernel that a container rarely has; it opens only pages of
 * this project.
 */
const options = ['--no-sandbox', '--disable-gpu'];

/** Returns a text that says why Chromium does not start on this machine, if it does not. */
export async function startChromium(): Promise<Browser | string> {
  if (platform !== builtFor) return `Chromium is there for ${builtFor} only, and this is ${platform}`;
  try {
    const { default: packed } = await import('@sparticuz/chromium');
    const executablePath = await packed.executablePath();
    return await chromium.launch({ executablePath, args: options, env: { ...process.env, ...environment } });
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `Chromium does not start on this machine: ${reason}`;
  }
}
