// Applies the operator's description of a provider's deviations from its format: betas and fields that the provider
// refuses, and fields for which the provider has another name.
import type { ProviderDocument } from '../../configuration/catalogue/index.ts';
import { bodyDepthMax } from '../../foundation/constants/index.ts';
import { type MultipartBody, plainName } from '../../protocol/forms/index.ts';
import { outputBoundNames } from '../../protocol/interfaces/chat-completions/index.ts';
import { findMember, type JsonText, parseJson, rewriteMembers, scanJson } from '../../protocol/wire/index.ts';
import type { CandidateRequest, Send } from '../providers/index.ts';

interface AdaptedSend {
  readonly adapt: (send: Send) => Send;
  /** Returns the paths of fields that were not sent; known once the request was made. */
  readonly dropped: () => readonly string[];
}

type Adapting = Pick<ProviderDocument, 'drops' | 'renames'>;

export function adaptedSend({ drops, renames }: Adapting): AdaptedSend {
  if (drops === undefined && renames === undefined) return { adapt: (send) => send, dropped: () => [] };
  const dropped = new Set<string>();
  const adapt = (request: CandidateRequest): CandidateRequest => ({
    ...request,
    ...(request.headers === undefined ? {} : { headers: withoutBetas(request.headers, drops?.betas ?? [], dropped) }),
    body() {
      const changes = { members: drops?.members ?? [], renames: renames ?? {} };
      const body = request.body();
      if (typeof body === 'string') return adaptedBody(body, changes, dropped);
      if ('parts' in body) return adaptedMultipart(body, changes, dropped);
      return { ...body, text: adaptedBody(body.text, changes, dropped) };
    },
  });
  return { adapt: (send) => (request) => send(adapt(request)), dropped: () => [...dropped] };
}

const betaHeader = 'anthropic-beta';

function withoutBetas(
  headers: Readonly<Record<string, string>>,
  betas: readonly string[],
  dropped: Set<string>,
): Readonly<Record<string, string>> {
  const { [betaHeader]: betaHeaders, ...others } = headers;
  if (betaHeaders === undefined) return headers;
  const requestBetas = betaHeaders.split(',').map((beta) => beta.trim());
  for (const beta of requestBetas) if (betas.includes(beta)) dropped.add(`${betaHeader}.${beta}`);
  const remainingBetas = requestBetas.filter((beta) => !betas.includes(beta));
  return remainingBetas.length === 0 ? others : { ...others, [betaHeader]: remainingBetas.join(',') };
}

interface BodyChanges {
  readonly members: readonly string[];
  readonly renames: Readonly<Record<string, string>>;
}

function adaptedMultipart(
  { parts, boundary }: MultipartBody,
  { members, renames }: BodyChanges,
  dropped: Set<string>,
): MultipartBody {
  const remainingParts = parts.filter(({ name }) => {
    const isDropped = members.includes(plainName(name));
    if (isDropped) dropped.add(plainName(name));
    return !isDropped;
  });
  const renamed = remainingParts.map((part) => {
    const other = renames[plainName(part.name)];
    return other === undefined ? part : { ...part, name: part.name.replace(plainName(part.name), () => other) };
  });
  return { parts: renamed, boundary };
}

function adaptedBody(text: string, { members, renames }: BodyChanges, dropped: Set<string>): string {
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') return text;
  const { json } = scanned;
  const changes = new Map<string, unknown>();
  const replaced: [number, string][] = [];
  for (const path of members) {
    const [outer = '', inner] = path.split('.');
    const at = findMember(json, outer);
    if (at === undefined) continue;
    if (inner === undefined) changes.set(outer, undefined);
    else if (json.isObject(at) && findMember(json, inner, at) !== undefined) {
      replaced.push([at, rewriteMembers(json, new Map([[inner, undefined]]), at)]);
    } else continue;
    dropped.add(path);
  }
  for (const [name, other] of Object.entries(renames)) rename(json, name, other, changes, dropped);
  if (changes.size === 0 && replaced.length === 0) return text;
  return rewriteMembers(
    json,
    changes,
    0,
    replaced.sort(([a], [b]) => a - b),
  );
}

const boundNames: readonly string[] = outputBoundNames;

/**
 * Renames a field. If a client sends both names, the name that the provider knows counts, and the other name is
 * reported. However, an output bound that the gateway has read is not replaced by a name that the gateway has not read.
 */
function rename(
  json: JsonText,
  name: string,
  other: string,
  changes: Map<string, unknown>,
  dropped: Set<string>,
): void {
  const at = findMember(json, name);
  if (at === undefined) return;
  changes.set(name, undefined);
  const known = findMember(json, other);
  const [isSent, isKnown] = [at, known].map((value) => value !== undefined && json.slice(value) !== 'null');
  const keepsOther = isKnown && (!isSent || boundNames.includes(other) || !boundNames.includes(name));
  if (isSent && isKnown) dropped.add(keepsOther ? name : other);
  if (!keepsOther) changes.set(other, parseJson(json.slice(at)));
}
