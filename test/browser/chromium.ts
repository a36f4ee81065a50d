// Chromium out of an npm package, which is built for linux-x64 and brings all it needs there.
import { type Browser, chromium } from 'playwright-core';

const platform = `${process.platform}-${process.arch}`;
const builtFor = 'linux-x64';

/** No sandbox: it takes rights of the kernel that a container rarely has, and only pages of this project are opened. */
const options = ['--no-sandbox', '--disable-gpu', '--no-zygote'];

/** A text says why it does not start here. */
export async function startChromium(): Promise<Browser | string> {
  if (platform !== builtFor) return `Chromium is there for ${builtFor} only, and this is ${platform}`;
  try {
    const { default: packed } = await import('@sparticuz/chromium');
    return await chromium.launch({ executablePath: await packed.executablePath(), args: options });
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `Chromium does not start on this machine: ${reason}`;
  }
}
