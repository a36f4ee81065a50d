// Generates images through an AI SDK package, with as many calls as their number needs, and joins them into one answer
// in the client's format.
import { type Candidate, modelNames } from '../../../configuration/catalogue/index.ts';
import { sha256Hex } from '../../../foundation/ids/index.ts';
import type { FormPart, TextWithFiles } from '../../../protocol/forms/index.ts';
import { imageOptions } from '../../../protocol/interfaces/images/index.ts';
import { plainGatewayMembers } from '../../../protocol/interfaces/index.ts';
import { imageTypeOf, type JsonObject, toCount, type UsageReport } from '../../../protocol/wire/index.ts';
import type { AttemptFailure, CandidateOutcome, NoAnswer, OpenPart } from '../../providers/index.ts';
import { openPackagePart, type PackageTask, type SplitTask } from './package-part.ts';
import { runParts } from './run-parts.ts';
import type { HubTarget, ImageTarget } from './targets/hub-target.ts';
import { loadTarget } from './targets/index.ts';

interface ImageCall {
  readonly imageModels: ImageTarget;
  readonly target: HubTarget;
  readonly model: string;
  readonly names: readonly string[];
  readonly body: JsonObject;
  readonly files: readonly ImageFile[];
  /** Returns the package's request with the images in their places. */
  readonly withImages: (text: string) => string | TextWithFiles;
  readonly openPart: OpenPart;
}

interface ImageFile {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: string;
}

interface ImagesPart {
  readonly kind: 'part';
  /** Images as base64. */
  readonly images: readonly string[];
  /** Number of images that are charged, including the images of an answer that was too long or found no memory. */
  readonly imageCount: number;
  readonly input: number | undefined;
  readonly output: number | undefined;
}

export async function imagesInParts(
  task: PackageTask,
  candidate: Candidate,
  openPart: OpenPart,
): Promise<CandidateOutcome> {
  const { body, size, form, createdSeconds } = task;
  const { imageModels, ...target } = await loadTarget(task.api);
  if (imageModels === undefined) throw new Error(`the package of ${task.api} makes no images`);
  const model = candidate.entry.upstream_model;
  const names = modelNames(candidate);
  const { files, withImages } = placeholdersFor(form?.filesOf('image') ?? [], body.prompt as string);
  const call = { imageModels, target, model, names, body, files, withImages, openPart };
  const counts = countsOf(size.choices, imageModels.imagesMax);
  const {
    parts: results,
    failure,
    exception,
  } = await runParts(counts, (count) => generatePart(call, count), paidPart, task.pause);
  const parts = results.filter((part) => part !== undefined);
  const images = parts.flatMap((part) => part.images);
  const imageCount = parts.reduce((sum, part) => sum + part.imageCount, 0);
  const usage = usageOf(parts);
  if (exception !== undefined && parts.length === 0) throw exception.error;
  if (failure !== undefined) {
    return failureResult(parts.length === 0 ? failure : { ...failure, unusedAnswer: billedUsage(usage, imageCount) });
  }
  // The provider blocked the prompt, or the images.
  if (images.length === 0) return failureResult({ ...blocked, ...(usage && { unusedAnswer: billedUsage(usage, 0) }) });
  const data = images.map((image) => `{"b64_json":"${image}"}`).join(',');
  const reported = usage === undefined ? '' : `,"usage":${JSON.stringify(usage.members)}`;
  const result = await task.readAnswer(`{"created":${createdSeconds},"data":[${data}]${reported}}`);
  if (result.kind !== 'answer') {
    return failureResult({
      kind: 'failed',
      cause: 'answer_too_large',
      unusedAnswer: billedUsage(usage, images.length),
    });
  }
  const leftOut = Object.keys(body).filter((name) => !supportedMembers.includes(name));
  return { kind: 'json', answer: result.answer, reachedVia: { format: 'images', leftOut } };
}

/** Fields that are never reported as left out, because the planner skips candidates that do not support them. */
const supportedMembers: readonly string[] = [
  ...['model', 'prompt', 'n', 'stream', 'image', ...imageOptions],
  ...plainGatewayMembers,
];

const blocked = {
  kind: 'invalid',
  reason: 'content_policy_violation',
  cause: 'blocked_image',
} as const satisfies AttemptFailure;

/** Returns the number of requests into which a call is split. */
export async function imageRequestCount({ api, size }: SplitTask): Promise<number> {
  const { imageModels } = await loadTarget(api);
  return imageModels === undefined ? 1 : countsOf(size.choices, imageModels.imagesMax).length;
}

const countsOf = (images: number, max: number): readonly number[] =>
  Array.from({ length: Math.ceil(images / max) }, (_, at) => Math.min(max, images - at * max));

/** Returns the part for a finished answer that cannot be passed on. Every image is charged. */
const paidPart = (count: number): ImagesPart => ({
  kind: 'part',
  images: [],
  imageCount: count,
  input: undefined,
  output: undefined,
});

async function generatePart(call: ImageCall, count: number): Promise<ImagesPart | NoAnswer> {
  const { imageModels, target, model, names, body, files, withImages } = call;
  const { exchange, keepAnswer, failureOf } = openPackagePart(call.openPart, { target, body: withImages });
  try {
    const result = await imageModels.openModel({ model, ...exchange.settings }, names).doGenerate({
      prompt: body.prompt as string,
      n: count,
      seed: undefined,
      files: files.length === 0 ? undefined : [...files],
      mask: undefined,
      ...imageModels.toOptions(sizeAndQuality(body)),
    });
    // Packages return base64 unchanged, or bytes.
    const images = (result.images as readonly (string | Uint8Array)[]).map((image) =>
      typeof image === 'string' ? image : Buffer.from(image).toString('base64'),
    );
    keepAnswer('ofPart');
    const { inputTokens, outputTokens } = result.usage ?? {};
    return {
      kind: 'part',
      images,
      imageCount: images.length,
      input: toCount(inputTokens),
      output: toCount(outputTokens),
    };
  } catch (error) {
    if (isModerated(error)) return failureResult(blocked);
    return failureOf(error);
  }
}

/** Digits of a placeholder's number, enough for the parts of a form. */
const placeDigits = 3;
/** Matches a media type with its subtype. For any other value the package would inspect the image's bytes. */
const fullType = /^[\w.+-]+\/[\w.+-]+$/;
const typeMaxBytes = 12;

/** Returns placeholders for the images, because a package would read and copy a long image several times. */
function placeholdersFor(parts: readonly FormPart[], prompt: string): Pick<ImageCall, 'files' | 'withImages'> {
  // The prompt cannot contain its own digest.
  const digest = sha256Hex(prompt);
  const bytesOf = new Map<string, Uint8Array>();
  const files = parts.map(({ bytes, mediaType = 'image/png' }, at): ImageFile => {
    const placeholder = `${digest}${String(at).padStart(placeDigits, '0')}`;
    bytesOf.set(placeholder, bytes);
    return { type: 'file', mediaType: fullType.test(mediaType) ? mediaType : typeOf(bytes), data: placeholder };
  });
  return { files, withImages: (text) => (bytesOf.size === 0 ? text : { text, files: bytesOf }) };
}

const typeOf = (bytes: Uint8Array): string =>
  imageTypeOf(Buffer.from(bytes.subarray(0, typeMaxBytes)).toString('base64')) ?? 'image/png';

/**
 * True for the errors that Bedrock's package throws if an answer with status 200 has no image, because of moderation.
 */
const isModerated = (error: unknown): boolean =>
  error instanceof Error && /was moderated|returned no images/.test(error.message);

const sizeAndQuality = ({ size, quality }: JsonObject) => ({
  size: explicitText(size),
  quality: explicitText(quality),
});
const explicitText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== 'auto' ? value : undefined;

/** Returns the usage; undefined if the provider reports nothing. */
function usageOf(parts: readonly ImagesPart[]): UsageReport | undefined {
  const sum = (counts: readonly (number | undefined)[]): number | undefined =>
    counts.length === 0 || counts.some((count) => count === undefined)
      ? undefined
      : counts.reduce<number>((all, count) => all + (count ?? 0), 0);
  const input = sum(parts.map((part) => part.input));
  const output = sum(parts.map((part) => part.output));
  if (input === undefined || output === undefined) return undefined;
  const tokens = {
    input,
    output,
    cached: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    reasoning: 0,
    media: { imageOutput: output },
  };
  return { tokens, members: { input_tokens: input, output_tokens: output, total_tokens: input + output } };
}

const billedUsage = (usage: UsageReport | undefined, count: number) => ({
  usage,
  outputBytes: 0,
  units: { images: { count } },
});

const failureResult = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });
