// Images from a form at a provider that gets JSON: they are encoded while they are sent, and no package reads or copies
// them.
import { describe, expect, it } from '#jest';
import { encodedPieces } from '../../../shared/foundation/outgoing/index.ts';
import { FormBody, piecesOf, type TextWithFiles } from '../../../shared/protocol/forms/index.ts';
import { imagesInParts } from '../../../shared/routing/formats/hub/images-in-parts.ts';
import type { PackageTask } from '../../../shared/routing/formats/hub/package-part.ts';
import { candidateOf } from './fake-send.ts';

const answer = JSON.stringify({
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

async function edit(prompt: string, parts: readonly { readonly bytes: Uint8Array; readonly mediaType?: string }[]) {
  const form = new FormBody(
    parts.map((part) => ({ name: 'image', fileName: 'a.png', ...part })),
    'digest',
    0,
  );
  const sentForms: TextWithFiles[] = [];
  const openPart = () => ({
    send: async ({ body }: { body: () => TextWithFiles }) => {
      sentForms.push(body());
      return {
        kind: 'answer',
        contentType: 'application/json',
        readText: async () => answer,
        describe: () => ({}),
        onEvent: () => {},
      };
    },
    ...{ keep: () => {}, wasDead: () => false, refused: () => undefined },
  });
  const readAnswer = async (text: string) => ({ kind: 'answer', answer: { text } });
  const task = { api: 'generate-content', body: { prompt }, size: { choices: 1 }, form, createdSeconds: 1, readAnswer };
  const outcome = await imagesInParts(
    task as unknown as PackageTask,
    candidateOf('generate-content'),
    openPart as never,
  );
  expect(outcome).toMatchObject({ kind: 'json' });
  return sentForms.map((body) => ({ body, json: JSON.parse([...encodedPieces(piecesOf(body))].join('')) }));
}

/** Returns the length of the longest text that JSON.stringify made meanwhile. */
async function longestWrite(run: () => Promise<unknown>): Promise<number> {
  const { stringify } = JSON;
  let longest = 0;
  JSON.stringify = (...values: unknown[]) => {
    const text = Reflect.apply(stringify, JSON, values) as string;
    longest = Math.max(longest, text?.length ?? 0);
    return text;
  };
  await run().finally(() => {
    JSON.stringify = stringify;
  });
  return longest;
}

const imagesOf = (body: { contents: { parts: { inlineData?: { data: string; mimeType: string } }[] }[] }) =>
  body.contents.flatMap(({ parts }) => parts.flatMap(({ inlineData }) => inlineData ?? []));

describe('images of a form', () => {
  it('are sent from the bytes of the form: no text is made of a whole one', async () => {
    const images = [10_000_001, 1, 3 * 1024 * 1024].map((length) => Buffer.alloc(length, 'image'));
    let edited: Awaited<ReturnType<typeof edit>> | undefined;
    const longest = await longestWrite(async () => {
      edited = await edit(
        'Blue',
        images.map((bytes) => ({ bytes })),
      );
    });
    expect(longest).toBeLessThan(10_000);
    const [sentForm] = edited ?? [];
    expect(sentForm?.body.text.length).toBeLessThan(10_000);
    for (const [at, bytes] of [...(sentForm?.body.files.values() ?? [])].entries()) expect(bytes).toBe(images[at]);
    expect(imagesOf(sentForm?.json)).toEqual(
      images.map((bytes) => ({ mimeType: 'image/png', data: bytes.toString('base64') })),
    );
  });

  it('stay images, and a prompt stays a prompt, whatever it says and whatever type they name', async () => {
    const bytes = Buffer.from('89504e470d0a1a0a00', 'hex');
    const [sentForm] = await edit('a $& "b" \\ 000', [
      { bytes, mediaType: 'image/webp' },
      { bytes, mediaType: 'image/*' },
    ]);
    expect(JSON.stringify(sentForm?.json)).toContain(JSON.stringify('a $& "b" \\ 000'));
    const data = bytes.toString('base64');
    expect(imagesOf(sentForm?.json)).toEqual([
      { mimeType: 'image/webp', data },
      { mimeType: 'image/png', data },
    ]);
  });
});
