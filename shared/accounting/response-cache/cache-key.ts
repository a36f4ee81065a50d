// Makes the key of requests that may share an answer, because they agree in everything that could change it. Ignored
// fields are listed; everything else that a client sends counts, fields unknown to the gateway included.
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type PassedOn, passesAnything } from '../../protocol/interfaces/index.ts';
import { canonicalText, type JsonText, type PolicyOptions } from '../../protocol/wire/index.ts';

interface CacheKeyParts {
  /** One body may be valid for two interfaces, and their answers differ. */
  readonly interfaceId: InterfaceId;
  /** Operation in the path, if the path names the model. */
  readonly operation?: string | undefined;
  /** Region of the entries that may serve the name of the model. */
  readonly region?: string | undefined;
  readonly workspace: string;
  /** Policy of workspace, preset and request together. */
  readonly policy: PolicyOptions;
  /** Namespace from `cache.namespace`. */
  readonly namespace?: string | undefined;
  /** Values of `provider.only` and `provider.ignore`. */
  readonly only?: readonly string[] | undefined;
  readonly ignore: readonly string[];
  /** Value of `provider.order`, if no other provider may serve. */
  readonly order?: readonly string[] | undefined;
  /** The fields of the request, with a preset merged in. */
  readonly body: JsonText;
  /** Values that providers get in addition to the body. */
  readonly passedOn?: PassedOn | undefined;
  /** Guardrails that have checked the answer. */
  readonly guardrails?: readonly object[] | undefined;
  /** Top-level fields of the body that change no answer, or are in the other parts. */
  readonly leftOut: ReadonlySet<string>;
}

/** Hash under which an answer is stored, and the version that made it. */
export interface CacheKey {
  readonly version: number;
  /** SHA-256, hex. */
  readonly hash: string;
}

/** Hashes. `model` is the catalogue id of the model that will answer, with `auto` resolved. */
type HashOfModel = (model: string) => string;

/**
 * Versions of the key, the newest first. An answer is stored under the newest version, and the other versions find
 * answers that an earlier release has stored. A change of the key, or of the structure of an answer, makes a new
 * version. The version before it stays for as long as an answer lives.
 */
const versions: readonly (readonly [number, (parts: CacheKeyParts) => HashOfModel])[] = [[1, hashParts]];

/** Opens the keys. The body is read at once, because it may be dropped before the answer is stored. */
export function openCacheKeys(parts: CacheKeyParts): (model: string) => readonly CacheKey[] {
  const opened = versions.map(([version, open]) => [version, open(parts)] as const);
  return (model) => opened.map(([version, hash]) => ({ version, hash: hash(model) }));
}

/** Hashes the parts. The order of fields does not count, but every value does. */
function hashParts({
  interfaceId,
  operation,
  region,
  workspace,
  policy,
  body,
  passedOn,
  leftOut,
  ...choice
}: CacheKeyParts): HashOfModel {
  const request_sha256 = sha256Hex(canonicalText(body, leftOut));
  const effective = effectOf(policy);
  const { namespace, only, ignore, order, guardrails = [] } = choice;
  return (model) =>
    sha256Hex(
      canonicalJson({
        interface: interfaceId,
        operation,
        region,
        workspace,
        model,
        policy: effective,
        namespace,
        only,
        ignore,
        order,
        request_sha256,
        passed_on: passesAnything(passedOn) ? passedOn : undefined,
        guardrails: guardrails.length === 0 ? undefined : guardrails,
      }),
    );
}

/**
 * Returns the effect of a policy: an absent field and an empty one, and regions in another order, are the same policy.
 */
const effectOf = ({ zdr, data_collection, data_residency }: PolicyOptions) => ({
  zdr: zdr === true,
  deniesCollection: data_collection === 'deny',
  regions: data_residency && [...new Set(data_residency)].sort(),
});
