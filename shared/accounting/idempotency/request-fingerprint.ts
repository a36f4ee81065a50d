// Makes the fingerprint of the inputs that a retry must repeat: the interface, the body, the correlation headers as the
// client sent them, and the client's own provider key. The gateway's own ids are not included, because they differ in
// every try.

import { headerNames, type InterfaceId } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type CallPath, type PassedOn, passesAnything } from '../../protocol/interfaces/index.ts';
import { canonicalText, type JsonText } from '../../protocol/wire/index.ts';

/** Header values as sent, by lower-case name. */
type SentHeaders = Readonly<Record<string, readonly string[]>>;

interface Inputs {
  readonly interfaceId: InterfaceId;
  readonly body: JsonText;
  readonly headers: SentHeaders;
  readonly passedOn: PassedOn | undefined;
  /** Fields of the body that have no effect. */
  readonly unusedFields: ReadonlySet<string> | undefined;
  /** Set if the path names the model. */
  readonly path: CallPath | undefined;
}

/** Hashes of the inputs. Stored hashes name their version. */
export interface Fingerprint {
  readonly version: number;
  readonly hash: string;
  /** Returns the hash of another version; undefined for a version unknown to this release. */
  readonly hashOf: (version: number) => string | undefined;
}

/**
 * SHA-256, hex, by version; the newest is stored. A change makes a new version. The version before it stays as long as
 * its records live, so that a retry after an upgrade still finds its answer.
 */
const versions: ReadonlyMap<number, (inputs: Inputs) => string> = new Map([[1, hashInputs]]);
export const fingerprintVersions: readonly number[] = [...versions.keys()];

export function fingerprint(
  interfaceId: InterfaceId,
  body: JsonText,
  headers: SentHeaders,
  { passedOn, unusedFields, path }: Partial<Pick<Inputs, 'passedOn' | 'unusedFields' | 'path'>> = {},
): Fingerprint {
  const inputs = { interfaceId, body, headers, passedOn, unusedFields, path };
  const version = Math.max(...fingerprintVersions);
  const hashOf = (wantedVersion: number) => versions.get(wantedVersion)?.(inputs);
  const hash = hashOf(version) as string;
  return { version, hash, hashOf: (wantedVersion) => (wantedVersion === version ? hash : hashOf(wantedVersion)) };
}

/** Hashes the inputs. The order of fields and white space do not count, but every value does. */
function hashInputs({ interfaceId, body, headers, passedOn, unusedFields, path }: Inputs): string {
  const headerOf = (name: string): string | undefined => headers[name]?.[0];
  const byokKey = headerOf(headerNames.byokKey);
  return sha256Hex(
    canonicalJson({
      interface: interfaceId,
      path,
      body_sha256: sha256Hex(canonicalText(body, unusedFields)),
      correlation: {
        trace: headerOf(headerNames.traceId),
        span: headerOf(headerNames.spanId),
        parent: headerOf(headerNames.parentSpanId),
        // Both headers name the same session, because headers that disagree were refused before.
        session: headerOf(headerNames.sessionId) ?? headerOf(headerNames.sessionIdAlias),
        // A tracing client sends a new parent id in every try.
        traceparent: headerOf(headerNames.traceparent)?.split('-')[1],
      },
      passed_on: passesAnything(passedOn) ? passedOn : undefined,
      byok_key_sha256: byokKey === undefined ? undefined : sha256Hex(byokKey),
    }),
  );
}
