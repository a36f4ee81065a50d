// Creates embeddings through a package. The inputs are sent in as many parts as the package requires, a few parts at a
// time, and make one answer in the order of the inputs.
import { type Candidate, modelNames } from '../../../configuration/catalogue/index.ts';
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { plainGatewayMembers } from '../../../protocol/interfaces/index.ts';
import { type JsonObject, toCount, type UsageReport } from '../../../protocol/wire/index.ts';
import { estimateInputTokens } from '../../billing/index.ts';
import type { AttemptFailure, CandidateOutcome, NoAnswer, OpenPart } from '../../providers/index.ts';
import { openPackagePart, type PackageTask, type SplitTask } from './package-part.ts';
import { runParts } from './run-parts.ts';
import type { EmbeddingOptions, EmbeddingTarget, HubTarget } from './targets/hub-target.ts';
import { loadTarget } from './targets/index.ts';

interface EmbedCall {
  readonly embeddingModels: EmbeddingTarget;
  readonly target: HubTarget;
  readonly model: string;
  readonly names: readonly string[];
  readonly embeddingOptions: EmbeddingOptions;
  readonly write: (vector: readonly number[]) => string;
  readonly openPart: OpenPart;
}

interface EmbeddedPart {
  readonly kind: 'part';
  /** Vectors, each as JSON text. */
  readonly vectors: readonly string[];
  /** Tokens; undefined if the provider reports none. */
  readonly tokens: number | undefined;
}

/** A part that cannot be passed on, although the provider finished it and charges for it. */
const paidPart: EmbeddedPart = { kind: 'part', vectors: [], tokens: undefined };

export async function embedInParts(
  request: PackageTask,
  candidate: Candidate,
  openPart: OpenPart,
): Promise<CandidateOutcome> {
  const { body, size, clientModel } = request;
  const { embeddingModels, ...target } = await loadTarget(request.api);
  if (embeddingModels === undefined) throw new Error(`the package of ${request.api} has no embeddings`);
  const model = candidate.entry.upstream_model;
  const names = modelNames(candidate);
  const write = writers[String(body.encoding_format ?? 'float')];
  if (write === undefined) return failed({ ...notTranslatable, param: 'encoding_format' });
  const embeddingOptions = inputOf(body);
  const call = { embeddingModels, target, model, names, embeddingOptions, write, openPart };
  const texts = [body.input].flat() as string[];
  const parts = inParts(texts, await inputsMaxOf(call));
  const {
    parts: results,
    failure,
    exception,
  } = await runParts(
    parts,
    (values) => embedPart(call, values),
    () => paidPart,
    request.pause,
  );
  const usage = usageOf(results, (at) => {
    const values = parts[at] ?? [];
    const textBytes = values.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
    return estimateInputTokens(candidate, { ...size, textBytes, contexts: values.length });
  });
  const isUsed = results.some((part) => part !== undefined);
  // The attempt states the reason.
  if (exception !== undefined && !isUsed) throw exception.error;
  if (failure !== undefined) return failed(failure, isUsed ? usage : undefined);
  const text = answerText(results, clientModel, usage);
  const read = text.length > largeBodyMaxBytes ? undefined : await request.readAnswer(text);
  if (read?.kind !== 'answer') return failed({ kind: 'failed', cause: 'answer_too_large' }, usage);
  const known: readonly string[] = [...knownMembers, ...embeddingModels.supportedFields(names)];
  const leftOut = Object.keys(body).filter((name) => !known.includes(name));
  return { kind: 'json', answer: { ...read.answer, usage }, reachedVia: { format: 'embeddings', leftOut } };
}

const knownMembers = ['model', 'input', 'dimensions', 'encoding_format', ...plainGatewayMembers];

const inputOf = ({ dimensions, input_type: inputType, taskType, title }: JsonObject): EmbeddingOptions => ({
  // The package, or the provider, checks it.
  dimensions: (dimensions ?? undefined) as number | undefined,
  inputType: (inputType ?? undefined) as string | undefined,
  taskType: (taskType ?? undefined) as string | undefined,
  title: (title ?? undefined) as string | undefined,
});

const writers: Readonly<Record<string, (vector: readonly number[]) => string>> = {
  float: (vector) => JSON.stringify(vector),
  base64: (vector) => JSON.stringify(Buffer.from(Float32Array.from(vector).buffer).toString('base64')),
};

const inParts = (texts: readonly string[], max: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(texts.length / max) }, (_, at) => texts.slice(at * max, (at + 1) * max));

/** Returns the number of concurrent requests of a call. */
export async function embeddingRequests({ api, candidate, size }: SplitTask): Promise<number> {
  const { embeddingModels } = await loadTarget(api);
  const model = candidate.entry.upstream_model;
  const names = modelNames(candidate);
  return embeddingModels === undefined
    ? 1
    : Math.ceil(size.contexts / (await inputsMaxOf({ embeddingModels, model, names })));
}

async function inputsMaxOf({
  embeddingModels,
  model,
  names,
}: Pick<EmbedCall, 'embeddingModels' | 'model' | 'names'>): Promise<number> {
  const unsent = { model, baseURL: 'https://provider.invalid', apiKey: 'none', fetch };
  return (await embeddingModels.openModel(unsent, names).maxEmbeddingsPerCall) ?? 1;
}

async function embedPart(call: EmbedCall, values: readonly string[]): Promise<EmbeddedPart | NoAnswer> {
  const { embeddingModels, target, model, names, embeddingOptions, write } = call;
  const { exchange, keepAnswer, failureOf } = openPackagePart(call.openPart, {
    target,
    completeAnswer: embeddingModels.completeAnswer,
  });
  try {
    const opened = embeddingModels.openModel({ model, ...exchange.settings }, names);
    const result = await opened.doEmbed({ values: [...values], ...embeddingModels.toOptions(embeddingOptions, names) });
    if (result.embeddings.length !== values.length) return failed({ kind: 'failed', cause: 'unreadable_answer' });
    const answer = exchange.answer();
    const tokens = toCount(embeddingModels.readInputTokens?.(result, answer) ?? result.usage?.tokens);
    const isCut = embeddingModels.needsNormalization === true && embeddingOptions.dimensions !== undefined;
    const vectors = result.embeddings.map((vector) => write(isCut ? toUnitLength(vector) : vector));
    // The copies are the text of the vectors, and the answer of which it becomes a part.
    keepAnswer('ofPart');
    // Packages count 0 if nothing is reported.
    return { kind: 'part', vectors, tokens: tokens === 0 ? undefined : tokens };
  } catch (error) {
    const { failure } = failureOf(error);
    if (failure.cause !== notTranslatable.cause) return failed(failure);
    return failed({ ...failure, param: refusedBy(embeddingOptions) });
  }
}

/** Returns the refused field, which the package's error does not name. */
function refusedBy({ dimensions, taskType }: EmbeddingOptions): string {
  if (dimensions !== undefined) return 'dimensions';
  return taskType === undefined ? 'input_type' : 'taskType';
}

const notTranslatable = {
  kind: 'invalid',
  reason: 'unsupported_parameter',
  cause: 'not_translatable',
} as const satisfies AttemptFailure;

function toUnitLength(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Returns the usage of the answered parts. `estimate` applies to a part that reports nothing. */
function usageOf(results: readonly (EmbeddedPart | undefined)[], estimate: (at: number) => number): UsageReport {
  const input = results.reduce((sum, part, at) => sum + (part === undefined ? 0 : (part.tokens ?? estimate(at))), 0);
  const isEstimated = results.some((part) => part !== undefined && part.tokens === undefined);
  return {
    tokens: {
      ...{ input, cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 },
      // Without a count the charge is marked as an estimate.
      output: isEstimated ? undefined : 0,
    },
    members: { prompt_tokens: input, total_tokens: input, ...(isEstimated ? { estimated: true } : {}) },
  };
}

function answerText(results: readonly (EmbeddedPart | undefined)[], model: string, { members }: UsageReport): string {
  const vectors = results.flatMap((part) => part?.vectors ?? []);
  const data = vectors.map((vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`);
  return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(members)}}`;
}

const failed = (failure: AttemptFailure, usage?: UsageReport): NoAnswer => ({
  kind: 'failure',
  failure: usage === undefined ? failure : { ...failure, unusedAnswer: { usage, outputBytes: 0 } },
});
