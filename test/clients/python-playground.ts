// The playground's code for Python, run unchanged with each release of the SDKs.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../infra/verify/verify-step.ts';
import { type InterfaceName, interfaces } from '../../shared/protocol/interface-pages/index.ts';
import { sentFile } from '../../shared/protocol/playground/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { audio, drafts, hostile, startPlaygroundGateway } from './playground-drafts.ts';
import { virtualEnvironment } from './python-environment.ts';

const sdks = {
  openai: ['requirements-openai-3.txt', 'requirements-openai-2.txt'],
  anthropic: ['requirements-anthropic.txt'],
  cohere: ['requirements-cohere.txt'],
} as const;
const sdkOf: Readonly<Partial<Record<InterfaceName, keyof typeof sdks>>> = { messages: 'anthropic', rerank: 'cohere' };

export async function runPlayground(): Promise<string> {
  const gateway = await startPlaygroundGateway();
  // The code for images writes files into this folder.
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, audio.name), Buffer.from(await audio.arrayBuffer()));
  try {
    for (const [title, name, one] of drafts) {
      const body = interfaces[name].body(one);
      const file = sentFile(interfaces[name], one);
      const python = interfaces[name].python(new URL(gateway.url).origin, body, file);
      for (const requirements of sdks[sdkOf[name] ?? 'openai']) {
        const before = gateway.simulator.calls.length;
        const output = await runCommand(await virtualEnvironment(requirements), ['-c', python], {
          cwd,
          env: { GW_API_KEY: gateway.key },
        });
        assert.match(output, /\S/, `${title} prints its answer`);
        await gateway.settled();
        const [sentBody, ...more] = gateway.simulator.calls.slice(before).map((call) => JSON.stringify(call.body));
        assert.equal(more.length, 0);
        assert.ok(sentBody?.includes(JSON.stringify(hostile).slice(1, -1)), title);
        assert.equal((await gateway.lastRecord())?.outcome, 'ok');
      }
    }
    return `the playground's code, ${drafts.length} requests`;
  } finally {
    rmSync(cwd, { recursive: true });
    await gateway.stop();
  }
}
