// Which inputs a retry must repeat: the interface, the body, the correlation headers as the client sent them,
// and the provider key it brought. The gateway's own ids are no part of it: they differ in every try.

import { headerNames, type InterfaceId } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type PassedOn, passesAnything } from '../../protocol/interfaces/index.ts';
import { canonicalText, type JsonText } from '../../protocol/wire/index.ts';

/** Header values as sent, by lower-case name. */
export type SentHeaders = Readonly<Record<string, readonly string[]>>;

/** SHA-256, hex. The order of members and white space do not count, every value does. */
export function fingerprint(
  interfaceId: InterfaceId,
  body: JsonText,
  headers: SentHeaders,
  passedOn?: PassedOn,
): string {
  const sent = (name: string): string | undefined => headers[name]?.[0];
  const byokKey = sent(headerNames.byokKey);
  return sha256Hex(
    canonicalJson({
      // Left out where it always was, so that what is stored stays comparable.
      interface: interfaceId === 'chat-completions' ? undefined : interfaceId,
      body_sha256: sha256Hex(canonicalText(body)),
      correlation: {
        trace: sent(headerNames.traceId),
        span: sent(headerNames.spanId),
        parent: sent(headerNames.parentSpanId),
        // Two names for one thing: headers that disagree were refused before.
        session: sent(headerNames.sessionId) ?? sent(headerNames.sessionIdAlias),
        // Its parent id is new in every try of a tracing client.
        traceparent: sent(headerNames.traceparent)?.split('-')[1],
      },
      passed_on: passesAnything(passedOn) ? passedOn : undefined,
      byok_key_sha256: byokKey === undefined ? undefined : sha256Hex(byokKey),
    }),
  );
}
