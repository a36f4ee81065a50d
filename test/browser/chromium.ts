// Chromium out of an npm package, which is built for linux-x64 and brings all it needs there.
import { type Browser, chromium } from 'playwright-core';

const platform = `${process.platform}-${process.arch}`;
const builtFor = 'linux-x64';

/** On a machine without a language Chromium calls its own `en-US@posix`, which is no language tag; a window may say another one. */
const environment = { LANGUAGE: '', LC_ALL: 'C', LANG: 'C' };

/** No sandbox: it takes rights of the kernel that a container rarely has, and only pages of this project are opened. */
const options = ['--no-sandbox', '--disable-gpu'];

/** A text says why it does not start here. */
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
