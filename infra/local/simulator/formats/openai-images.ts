// Implements OpenAI's Images: generations, and edits of files in a multipart form. Each image is a small PNG.
import { type Frame, type SimulatedCompletion, type TokenCounts, usageMember } from '../answer.ts';
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { errorBody } from '../error-bodies.ts';
import { jsonFrame, serverSentEvent } from '../frames.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { pngOf } from '../png.ts';

interface ImagesBody {
  readonly model: string;
  readonly prompt: string;
  /** Number of images, which is a text in a form. */
  readonly n?: number | string | null;
  readonly size?: string | null;
  readonly quality?: string | null;
  readonly stream?: boolean | string | null;
  readonly partial_images?: number | string | null;
  readonly response_format?: 'url' | 'b64_json' | null;
  readonly output_format?: string | null;
}

const imagesMax = 10;

function read({ body }: Received): ModelRequest | string {
  const { model, prompt, n, stream } = (body ?? {}) as ImagesBody;
  if (typeof model !== 'string' || model === '') return "Missing required parameter: 'model'.";
  if (typeof prompt !== 'string' || prompt === '') return "Missing required parameter: 'prompt'.";
  const count = Number(n ?? 1);
  if (!Number.isInteger(count) || count < 1 || count > imagesMax) return "Invalid 'n': integer above maximum value.";
  return {
    ...plainRequest,
    model,
    isStream: String(stream) === 'true',
    choiceCount: count,
    turns: [{ role: 'user', text: prompt }],
  };
}

function readEdit(call: Received): ModelRequest | string {
  const { image, images } = (call.body ?? {}) as { readonly image?: unknown; readonly images?: unknown };
  return image === undefined && images === undefined ? "Missing required parameter: 'image'." : read(call);
}

const sizeOf = ({ size }: ImagesBody): string => (typeof size === 'string' && size !== 'auto' ? size : '1024x1024');
const qualityOf = ({ quality }: ImagesBody): string =>
  typeof quality === 'string' && quality !== 'auto' ? quality : 'high';

const facts = (body: ImagesBody) => ({
  background: 'opaque',
  output_format: body.output_format ?? 'png',
  quality: qualityOf(body),
  size: sizeOf(body),
});

const imageOf = (body: ImagesBody, at: number): string => pngOf(`${body.prompt} ${at}`).toString('base64');

function json({ body, createdEpochSeconds }: SimulatorCall, completion: SimulatedCompletion): object {
  const request = body as ImagesBody;
  const isUrl = request.response_format === 'url';
  const data = completion.choices.map((_choice, at) =>
    isUrl ? { url: `data:image/png;base64,${imageOf(request, at)}` } : { b64_json: imageOf(request, at) },
  );
  return { created: createdEpochSeconds, ...facts(request), data, ...usageMember('usage', completion, usageJson) };
}

const usageJson = ({ input, output }: TokenCounts) => ({
  input_tokens: input,
  input_tokens_details: { image_tokens: 0, text_tokens: input },
  output_tokens: output,
  total_tokens: input + output,
});

const frames =
  (prefix: string) =>
  (call: SimulatorCall, completion: SimulatedCompletion): readonly Frame[] => {
    const body = call.body as ImagesBody;
    const created_at = call.createdEpochSeconds;
    const partials = Array.from({ length: Number(body.partial_images ?? 0) }, (_, at) => ({
      type: `${prefix}.partial_image`,
      partial_image_index: at,
      b64_json: imageOf(body, at),
      created_at,
      ...facts(body),
    }));
    const whole = completion.choices.map((_choice, at) => ({
      type: `${prefix}.completed`,
      b64_json: imageOf(body, at),
      created_at,
      ...facts(body),
      ...usageMember('usage', completion, usageJson),
    }));
    const eventFrame = (carries: Frame['carries']) => (event: { readonly type: string }) => ({
      ...jsonFrame(carries, event),
      event: event.type,
    });
    return [...partials.map(eventFrame('output')), ...whole.map(eventFrame('finish'))];
  };

const format = (name: string, path: RegExp, prefix: string): SimulatorFormat => ({
  name,
  path,
  requestIdHeader: 'x-request-id',
  idPrefix: '',
  streamType: 'text/event-stream; charset=utf-8',
  answerMembers: ['data', 'b64_json'],
  keepAlive: ': keep-alive\n\n',
  wrongCredential: { status: 401, code: 'invalid_api_key' },
  read: name === 'images' ? read : readEdit,
  json,
  frames: frames(prefix),
  encode: serverSentEvent,
  error: (status, code, message) => ({ body: errorBody(status, code, message) }),
  errorFrames: (_call, _completion, code = 'server_error') => [
    { ...jsonFrame('other', { type: 'error', ...(errorBody(500, code) as object) }), event: 'error' },
  ],
});

export const images = format('images', /^\/images\/generations$/, 'image_generation');
export const imageEdits = format('image-edits', /^\/images\/edits$/, 'image_edit');
