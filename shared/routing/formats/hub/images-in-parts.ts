// Images through a package: in as many calls as it needs for their number, and one answer in the client's format.
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
  readonly imaging: ImageTarget;
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
  /** Number of images that are charged, including those of an answer that cannot be passed on. */
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
  const { imaging, ...target } = await loadTarget(task.api);
  if (imaging === undefined) throw new Error(`the package of ${task.api} makes no images`);
  const model = candidate.entry.upstream_model;
  const names = modelNames(candidate);
  const { files, withImages } = readFiles(form?.filesOf('image') ?? [], body.prompt as string);
  const call = { imaging, target, model, names, body, files, withImages, openPart };
  const counts = countsOf(size.choices, imaging.imagesMax);
  const { done, failure, broken } = await runParts(counts, (count) => drawPart(call, count), paidPart, task.pause);
  const parts = done.filter((part) => part !== undefined);
  const images = parts.flatMap((part) => part.images);
  const imageCount = parts.reduce((sum, part) => sum + part.imageCount, 0);
  const usage = usageOf(parts);
  if (broken !== undefined && parts.length === 0) throw broken.error;
  if (failure !== undefined) {
    return failed(parts.length === 0 ? failure : { ...failure, refusedAnswer: refusedOf(usage, imageCount) });
  }
  // The provider blocked the prompt, or the images.
  if (images.length === 0) return failed({ ...blocked, ...(usage && { refusedAnswer: refusedOf(usage, 0) }) });
  const data = images.map((image) => `{"b64_json":"${image}"}`).join(',');
  const reported = usage === undefined ? '' : `,"usage":${JSON.stringify(usage.members)}`;
  const read = await task.readAnswer(`{"created":${createdSeconds},"data":[${data}]${reported}}`);
  if (read.kind !== 'answer') {
    return failed({ kind: 'failed', cause: 'answer_too_large', refusedAnswer: refusedOf(usage, images.length) });
  }
  const leftOut = Object.keys(body).filter((name) => !knownMembers.includes(name));
  return { kind: 'json', answer: read.answer, reachedVia: { format: 'images', leftOut } };
}

/** Fields that need no check here: the planner skips a candidate that cannot do what they ask for. */
const knownMembers: readonly string[] = [
  ...['model', 'prompt', 'n', 'stream', 'image', ...imageOptions],
  ...plainGatewayMembers,
];

const blocked = {
  kind: 'invalid',
  reason: 'content_policy_violation',
  cause: 'blocked_image',
} as const satisfies AttemptFailure;

/** Returns the number of concurrent requests of a call. */
export async function imageRequests({ api, size }: SplitTask): Promise<number> {
  const { imaging } = await loadTarget(api);
  return imaging === undefined ? 1 : countsOf(size.choices, imaging.imagesMax).length;
}

const countsOf = (images: number, max: number): readonly number[] =>
  Array.from({ length: Math.ceil(images / max) }, (_, at) => Math.min(max, images - at * max));

/** Returns a part of which only the requested number of images is known. */
const paidPart = (count: number): ImagesPart => ({
  kind: 'part',
  images: [],
  imageCount: count,
  input: undefined,
  output: undefined,
});

async function drawPart(call: ImageCall, count: number): Promise<ImagesPart | NoAnswer> {
  const { imaging, target, model, names, body, files, withImages } = call;
  const { exchange, keepAnswer, failureOf } = openPackagePart(call.openPart, { target, body: withImages });
  try {
    const result = await imaging.openModel({ model, ...exchange.settings }, names).doGenerate({
      prompt: body.prompt as string,
      n: count,
      seed: undefined,
      files: files.length === 0 ? undefined : [...files],
      mask: undefined,
      ...imaging.toOptions(promptText(body)),
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
    if (isModerated(error)) return failed(blocked);
    return failureOf(error);
  }
}

/** Digits of a placeholder's number, enough for the parts of a form. */
const placeDigits = 3;
/** Matches a complete media type: a package would inspect the bytes of any other. */
const fullType = /^[\w.+-]+\/[\w.+-]+$/;
const typeMaxBytes = 12;

/** Returns placeholders for the images: a package would read and copy a long image several times. */
function readFiles(parts: readonly FormPart[], prompt: string): Pick<ImageCall, 'files' | 'withImages'> {
  // No prompt contains its own digest.
  const digest = sha256Hex(prompt);
  const bytesOf = new Map<string, Uint8Array>();
  const files = parts.map(({ bytes, mediaType = 'image/png' }, at): ImageFile => {
    const word = `${digest}${String(at).padStart(placeDigits, '0')}`;
    bytesOf.set(word, bytes);
    return { type: 'file', mediaType: fullType.test(mediaType) ? mediaType : typeOf(bytes), data: word };
  });
  return { files, withImages: (text) => (bytesOf.size === 0 ? text : { text, files: bytesOf }) };
}

const typeOf = (bytes: Uint8Array): string =>
  imageTypeOf(Buffer.from(bytes.subarray(0, typeMaxBytes)).toString('base64')) ?? 'image/png';

/** True if Bedrock's package throws for a successful answer that says why no image was made. */
const isModerated = (error: unknown): boolean =>
  error instanceof Error && /was moderated|returned no images/.test(error.message);

const promptText = ({ size, quality }: JsonObject) => ({ size: word(size), quality: word(quality) });
const word = (value: unknown): string | undefined =>
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

const refusedOf = (usage: UsageReport | undefined, count: number) => ({
  usage,
  outputBytes: 0,
  units: { images: { count } },
});

const failed = (failure: AttemptFailure): NoAnswer => ({ kind: 'failure', failure });
