// Forms as clients write them: parts in any order, fields in JSON, and the body that a provider gets.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { encodeMultipart, type FormBody, formBoundary } from '../../../shared/protocol/forms/index.ts';
import { readForm } from '../../../shared/protocol/forms/read-form.ts';
import { inTurns } from '../../support/in-turns.ts';

const reading = {
  gatewayMembers: new Set(['provider', 'models', 'cache', 'preset']),
  schemaMember: undefined,
  formFields: { numbers: new Set(['n']), flags: new Set(['stream']) },
};

async function read(form: FormData | { readonly type: string; readonly text: string | Buffer }) {
  const formResponse = form instanceof FormData ? new Response(form) : undefined;
  const type = formResponse?.headers.get('content-type') ?? (form as { type: string }).type;
  const { text = '' } = form as { readonly text?: string | Buffer };
  const formBytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const bytes = formResponse ? Buffer.from(await formResponse.arrayBuffer()) : formBytes;
  return readForm(bytes, { ...reading, boundary: formBoundary(type) ?? '' });
}

async function readWell(form: Parameters<typeof read>[0]) {
  const body = await read(form);
  if (body.kind === 'unreadable') throw body.error;
  return { json: JSON.parse(body.json.text), form: (body as unknown as { form: FormBody }).form };
}

const refusalOf = async (form: Parameters<typeof read>[0]) => {
  const body = await read(form);
  return body.kind === 'unreadable' ? { code: body.error.code, message: body.error.message } : undefined;
};

const formOf = (entries: readonly (readonly [string, string | File])[]): FormData => {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
};
const png = new File([new Uint8Array([0x89, 0x50, 0x0d, 0x0a, 0xff, 0])], 'ä "b".png', { type: 'image/png' });

describe('a form', () => {
  it.each(['n\\', 'a"b', 'a\tb'])('has no name that could end early if another server reads it: %j', async (name) => {
    const disposition = `form-data; name="${name.replace(/["\\]/g, '\\$&')}"; filename="; name=model"`;
    const text = `--b\r\ncontent-disposition: ${disposition}\r\n\r\ndearer\r\n--b--\r\n`;
    expect(await refusalOf({ type: 'multipart/form-data; boundary=b', text })).toEqual({
      code: 'invalid_request',
      message: 'A name in the form has a quote, a backslash or a control character.',
    });
  });

  it('is read as JSON: texts, numbers, flags, lists and files', async () => {
    const { json, form } = await readWell(
      formOf([
        ['image[]', png],
        ['prompt', 'a "cat"\r\n--x'],
        ['n', '2'],
        ['stream', 'true'],
        ['image[]', new File(['two'], 'b.webp', { type: 'image/webp' })],
        ['user', 'true'],
      ]),
    );
    expect(json).toEqual({
      image: [
        { file_name: 'ä %22b%22.png', type: 'image/png', bytes: 6, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { file_name: 'b.webp', type: 'image/webp', bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      prompt: 'a "cat"\r\n--x',
      n: 2,
      stream: true,
      user: 'true',
    });
    expect(form.filesOf('image').map(({ bytes }) => bytes.length)).toEqual([6, 3]);
  });

  it('has fields of the gateway as JSON, or in brackets as SDKs write them', async () => {
    const inBrackets = await readWell(
      formOf([
        ['provider[only][]', 'acme'],
        ['provider[zdr]', 'true'],
        ['provider[only][]', 'zen'],
        ['provider[max_price][prompt]', '2.5'],
        ['models[0]', 'a'],
        ['models[1]', 'b'],
        ['cache[ttl]', '60'],
      ]),
    );
    const provider = { only: ['acme', 'zen'], zdr: true, max_price: { prompt: '2.5' } };
    expect(inBrackets.json).toEqual({ provider, models: ['a', 'b'], cache: { ttl: 60 } });
    const asJson = await readWell(formOf([['provider', JSON.stringify(provider)]]));
    expect(asJson.json).toEqual({ provider });
    // A text stays inside its field, even if it contains JSON.
    const text = '{"zdr":true},"model":"x"';
    expect((await readWell(formOf([['provider', text]]))).json).toEqual({ provider: text });
  });

  it.each([
    [[['provider', '{}'] as const, ['provider[zdr]', 'true'] as const], 'provider: stands twice'],
    [[['provider[zdr]', 'true'] as const, ['provider[zdr]', 'false'] as const], 'provider[zdr]: stands twice'],
    [[['provider[zdr]x', 'true'] as const], 'provider[zdr]x: must be written as provider[name][]'],
    [[['model', '\ud800'] as const, ['x'.repeat(200), ''] as const], 'A name in the form is longer'],
    [[['prompt', 'x'.repeat(1_048_577)] as const], 'prompt: the texts of a form may have 1048576 bytes'],
    [[['provider', png] as const], 'provider: must be a text, no file'],
    [Array.from({ length: 257 }, (_, at) => [`f${at}`, ''] as const), 'The form has more than 256 parts.'],
  ])('is refused by the name of the field: case %#', async (entries, message) => {
    const refusal = await refusalOf(formOf(entries));
    expect(refusal?.code).toBe('invalid_request');
    expect(refusal?.message).toContain(message);
  });

  const head = (more = '') => `--b\r\ncontent-disposition: form-data; name="a"${more}\r\n\r\n`;
  const type = 'multipart/form-data; boundary=b';
  it.each([
    ['--b--', undefined],
    ['', 'is no form'],
    ['{"model":"x"}', 'is no form'],
    [`${head()}cut`, 'is no form'],
    [`${head()}x\r\n--other--`, 'is no form'],
    [`--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--`, 'has no name'],
    [`${head(`; x="${'y'.repeat(5_000)}"`)}x\r\n--b--`, 'longer than 4096 bytes'],
    [`${head('\r\ncontent-transfer-encoding: base64')}eA==\r\n--b--`, 'a: content-transfer-encoding is not read'],
    [Buffer.from([...Buffer.from(head()), 0xff, ...Buffer.from('\r\n--b--')]), 'a: is not valid UTF-8'],
  ])('that is malformed is refused, never half read: case %#', async (text, message) => {
    const refusal = await refusalOf({ type, text });
    if (message === undefined) expect(refusal).toBeUndefined();
    else expect(refusal?.message).toContain(message);
  });

  it('goes to a provider part by part as it came, but for the model and the fields of the gateway', async () => {
    const name = fc.stringMatching(/^[a-z"%;äß][a-z"%; ]{0,8}[a-z]$/);
    const bytes = fc.uint8Array({ maxLength: 64 }).map((one) => new Uint8Array(one));
    const part = fc.record({ name, bytes, fileName: fc.option(name, { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        const entries = parts.map(({ name, bytes, fileName }) =>
          fileName === undefined
            ? ([name, Buffer.from(bytes).toString('hex')] as const)
            : ([name, new File([bytes], fileName)] as const),
        );
        const formData = formOf([['provider[zdr]', 'true'], ...entries, ['model', 'ours']]);
        const { form } = await readWell(formData);
        const upstream = form.rewritten(new Map([['model', 'theirs']]), reading.gatewayMembers);
        const { contentType, pieces } = encodeMultipart(upstream);
        const arrived = await new Response(Buffer.concat(pieces), {
          headers: { 'content-type': contentType },
        }).formData();
        const plain = async (one: FormData) =>
          Promise.all(
            [...one].map(async ([key, value]) => [
              key,
              ...(typeof value === 'string' ? [value] : [value.name.replaceAll('"', '%22'), await value.text()]),
            ]),
          );
        const expected = formOf([['model', 'theirs'], ...entries.filter(([key]) => key !== 'model')]);
        expect((await plain(arrived)).toSorted()).toEqual((await plain(expected)).toSorted());
      }),
      { numRuns: 50 },
    );
  });

  it('is known by its content: another file under the same name is another form', async () => {
    const one = await readWell(formOf([['file', new File(['a'], 'x')]]));
    const other = await readWell(formOf([['file', new File(['b'], 'x')]]));
    expect(one.json).not.toEqual(other.json);
  });
});

describe('the boundary of a form', () => {
  it.each([
    ['application/json', undefined],
    [undefined, undefined],
    ['multipart/form-data', ''],
    ['multipart/form-data; boundary=', ''],
    ['multipart/form-data; boundary=abc; charset=utf-8', 'abc'],
    ['Multipart/Form-Data;boundary="a b"', 'a b'],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, ''],
    ['multipart/mixed; boundary=x', undefined],
  ])('is read from the content type: %j has %j', (type, boundary) => expect(formBoundary(type)).toBe(boundary));
});

describe('a long form', () => {
  const type = 'multipart/form-data; boundary=b';
  const partOf = (name: string, bytes: string | Buffer) => [
    Buffer.from(`--b\r\ncontent-disposition: form-data; name="${name}"; filename="f"\r\n\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ];
  const bodyOf = (...parts: Buffer[][]) => Buffer.concat([...parts.flat(), Buffer.from('--b--\r\n')]);

  it.each(['\r', '\r\n', '\r\n--', '\n--b', 'a'])(
    'of %j alone is searched in turns, and its file is not copied',
    async (unit) => {
      const file = Buffer.from(unit.repeat((8 * 1024 * 1024) / unit.length));
      const text = bodyOf(partOf('image', file));
      const { read: form, turns } = await inTurns(() => readWell({ type, text }));
      const [part] = form.form.parts;
      expect(file.equals(part?.bytes as Uint8Array)).toBe(true);
      expect(part?.bytes.buffer).toBe(text.buffer);
      expect(turns).toBeGreaterThanOrEqual(7);
    },
  );

  it('is read alike wherever it is cut into pieces', async () => {
    const last = Buffer.from('the last one');
    for (let less = 0; less < 220; less += 7) {
      const first = Buffer.alloc(1024 * 1024 - less, '\r\n-');
      const text = bodyOf(
        partOf('image[]', first),
        partOf('image[]', ''),
        partOf('image[]', Buffer.alloc(1024 * 1024, '-')),
        partOf('image[]', last),
      );
      const { form } = await readWell({ type, text });
      expect(form.parts.map(({ bytes }) => bytes.length)).toEqual([first.length, 0, 1024 * 1024, last.length]);
      expect(first.equals(form.parts[0]?.bytes as Uint8Array)).toBe(true);
      expect(last.equals(form.parts[3]?.bytes as Uint8Array)).toBe(true);
      expect(new Set(form.parts.slice(2).map(({ bytes }) => bytes.buffer))).toEqual(new Set([text.buffer]));
    }
  });

  it('may have anything after its last boundary, and nothing in its place', async () => {
    const whole = bodyOf(partOf('image', 'a'));
    const { form } = await readWell({ type, text: Buffer.concat([whole, Buffer.alloc(3 * 1024 * 1024, '\r\n--b')]) });
    expect(form.parts).toHaveLength(1);
    const cut = Buffer.concat([...partOf('image', Buffer.alloc(3 * 1024 * 1024, 'a'))]);
    expect(await refusalOf({ type, text: cut })).toMatchObject({ code: 'invalid_request' });
  });
});
