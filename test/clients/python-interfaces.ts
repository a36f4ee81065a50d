// Interfaces beyond text, with both versions of OpenAI's client for Python.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand } from '../../infra/verify/verify-step.ts';
import { baseUrlOf, startClientGateway } from './client-gateway.ts';
import { virtualEnvironment } from './python-environment.ts';

interface Seen {
  readonly moderations: readonly boolean[];
  readonly embeddings: readonly number[];
  /** The beginning of each image, in base64. */
  readonly images: readonly string[];
  readonly speech: string;
  readonly transcription: string;
  readonly stored: { readonly same: boolean; readonly text: string; readonly gone: boolean };
}

function check({ moderations, embeddings, images, speech, transcription, stored }: Seen): void {
  assert.deepEqual(moderations, [false, false]);
  assert.equal(embeddings.length, 2);
  assert.ok(embeddings.every((length) => length > 0));
  assert.deepEqual(images, ['iVBORw0K', 'iVBORw0K'], 'two PNGs');
  assert.equal(speech, 'RIFF');
  assert.match(transcription, /\w/);
  assert.match(stored.text, /^Hello! /);
  assert.deepEqual([stored.same, stored.gone], [true, true]);
}

export async function runInterfaces(): Promise<string> {
  const gateway = await startClientGateway();
  try {
    const request = JSON.stringify({ base_url: baseUrlOf(gateway, '/openai/v1'), key: gateway.key });
    for (const version of [2, 3]) {
      const python = await virtualEnvironment(`requirements-openai-${version}.txt`);
      const output = await runCommand(python, [join(import.meta.dirname, 'python/check_interfaces.py')], {
        env: { GW_CLIENTS: request, PYTHONDONTWRITEBYTECODE: '1' },
      });
      check(JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Seen);
    }
    await gateway.settled();
    const failed = (await gateway.records()).filter(({ outcome }) => outcome !== 'ok');
    assert.deepEqual(failed, [], 'every call is recorded as answered');
    return 'moderations, embeddings, images, speech, transcriptions, stored responses';
  } finally {
    await gateway.stop();
  }
}
