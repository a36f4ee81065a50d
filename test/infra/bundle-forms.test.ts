// Forms and bytes through the uploaded bundle, in events as function URLs send them.
import { afterAll, beforeAll, beforeEach, expect, it } from '#jest';
import { lambdaEnvironment } from '../../infra/local/lambda-env.ts';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { plainBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { builtBundle } from '../support/built-bundles.ts';
import { type BundleAnswer, type BundledFunction, startBundledFunction } from '../support/bundled-function.ts';
import { describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const free = { input_price_per_million: '0', output_price_per_million: '0', supported_params: {} };
const audio = Buffer.concat(spokenPieces('one two three four', 'wav'));

describeOnDynamo('the uploaded bundle', () => {
  let harness: Harness;
  let gateway: BundledFunction;

  beforeAll(async () => {
    const testStore = await startDynamoTestStore();
    harness = await startHarness({
      testStore,
      apis: ['transcriptions', 'images', 'speech'],
      models: {
        whisper: [{ provider: 'acme', upstream: 'no-usage', more: { ...free, input_price_per_second: '0.0001' } }],
        image: [{ provider: 'acme', upstream: 'echo', more: { ...free, image_prices: { default: '0.04' } } }],
        tts: [{ provider: 'acme', upstream: 'echo', more: { ...free, input_price_per_character: '0.000015' } }],
        'tts-cut': [
          { provider: 'globex', upstream: 'cut:2', more: { ...free, input_price_per_character: '0.000015' } },
        ],
      },
    });
    const env = lambdaEnvironment({ stage: testStore.stage, dynamodbUrl: testStore.endpoint });
    gateway = await startBundledFunction(await builtBundle('gateway'), env);
  });
  beforeEach(() => harness.simulator.clear());
  afterAll(async () => {
    gateway.kill();
    await harness.stop();
  });

  const authorization = () => `Bearer ${harness.key}`;
  const textOf = ({ body }: BundleAnswer) => Buffer.from(body, 'base64').toString();

  /** Sends a form as AWS does: binary, so in base64. */
  async function postForm(path: string, fields: Readonly<Record<string, string | File>>): Promise<BundleAnswer> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const request = new Request('http://gateway', { method: 'POST', body: form });
    const headers = { authorization: authorization(), 'content-type': request.headers.get('content-type') ?? '' };
    const body = Buffer.from(await request.arrayBuffer()).toString('base64');
    return gateway.invoke({ rawPath: `/v1${path}`, headers, body, isBase64Encoded: true });
  }

  it('hands a file to its provider as it was sent, and bills it by its length', async () => {
    const file = new File([audio], 'speech.wav', { type: 'audio/wav' });
    const answer = await postForm('/audio/transcriptions', { file, model: 'whisper', language: 'en' });
    expect([answer.status, answer.isWhole, answer.failure]).toEqual([200, true, undefined]);
    expect(JSON.parse(textOf(answer))).toMatchObject({ text: expect.stringContaining('acme') });
    expect(Number(answer.headers['x-gw-cost'])).toBe(0.0001);
    const fileDetails = { file_name: 'speech.wav', type: 'audio/wav', bytes: audio.length };
    expect(harness.simulator.calls.map(({ body }) => body)).toEqual([
      { model: 'no-usage', language: 'en', file: fileDetails },
    ]);
    expect(await expectBalancedBooks(harness)).toBe(100_000_000n);
  });

  it('takes a form of 4 MiB, and of a longer one says how much it takes: no provider is called, nothing charged', async () => {
    const imageOf = (bytes: number) => new File([Buffer.alloc(bytes, 0xe9)], 'a.png', { type: 'image/png' });
    const edit = (bytes: number) =>
      postForm('/images/edits', { model: 'image', prompt: 'A cat', image: imageOf(bytes) });
    const beside = 1024;
    const acceptance = await edit(plainBodyMaxBytes - beside);
    expect([acceptance.status, acceptance.isWhole]).toEqual([200, true]);
    expect(JSON.parse(textOf(acceptance))).toMatchObject({ data: [{ b64_json: expect.stringMatching(/^iVBOR/) }] });
    const [call] = harness.simulator.calls;
    expect(call?.body).toMatchObject({ image: { bytes: plainBodyMaxBytes - beside } });
    const spent = await expectBalancedBooks(harness);
    const refusal = await edit(plainBodyMaxBytes);
    expect([refusal.status, JSON.parse(textOf(refusal))]).toMatchObject([
      413,
      { error: 'request_too_large', message: 'The request body is too large: at most 4 MiB on Lambda.' },
    ]);
    expect(harness.simulator.calls).toHaveLength(1);
    expect(await expectBalancedBooks(harness)).toBe(spent);
  });

  it('breaks its answer off if the bytes of speech break, charges what came, and serves the next call', async () => {
    const speak = (model: string) => {
      const headers = { authorization: authorization(), 'content-type': 'application/json' };
      const body = JSON.stringify({ model, input: 'one two three four', voice: 'alloy', response_format: 'wav' });
      return gateway.invoke({ rawPath: '/v1/audio/speech', headers, body });
    };
    const brokenSpeech = await speak('tts-cut');
    expect([brokenSpeech.status, brokenSpeech.isWhole, brokenSpeech.failure]).toEqual([
      200,
      false,
      'the answer broke, and is cut off',
    ]);
    const whole = await speak('tts');
    expect([whole.status, whole.isWhole, whole.failure]).toEqual([200, true, undefined]);
    expect(Buffer.from(whole.body, 'base64').equals(audio)).toBe(true);
    const outcomes = (await harness.records()).filter(({ interfaceId }) => interfaceId === 'speech');
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['cut', 'ok']);
    await expectBalancedBooks(harness);
  });
});
