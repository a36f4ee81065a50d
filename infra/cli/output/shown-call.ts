// Formats the parts of `calls show`: the attempts of a call, its guardrails, and its stored bodies.
import type { CallAttempt, CallRecord } from '../../../shared/accounting/call-records/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { connectionFaultText } from '../../../shared/foundation/constants/index.ts';
import { escapeControls } from '../../../shared/foundation/log/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { table } from './table.ts';
import type { Style } from './terminal.ts';

export const attemptLines = (attempts: readonly CallAttempt[], style: Style): string[] =>
  table(
    [
      { title: 'attempt', align: 'right' },
      { title: 'provider' },
      { title: 'outcome' },
      { title: 'status' },
      { title: 'ms', align: 'right' },
      { title: 'why', isFlexible: true },
    ],
    attempts.map((attempt, index) => {
      const { provider, outcome, status, ms } = attempt;
      return [index + 1, provider, outcome, status, ms, explanationOf(attempt)];
    }),
    style,
  );

function explanationOf({ reason, providerText, schemaMismatch }: CallAttempt): string {
  if (reason !== undefined) return connectionFaultText(reason);
  return providerText ?? (schemaMismatch === undefined ? '' : `the answer fails the schema at ${schemaMismatch}`);
}

/** Shows each body after its title: JSON in lines of its own, anything else as it is. */
export const contentLines = ({ request, answer, sent, blocked, cut }: Documents['ManagedContent']): string[] => [
  ...bodyLines('request of the client', request),
  ...(answer === null ? ['', 'no answer: the client left'] : bodyLines(`answer, status ${answer.status}`, answer.body)),
  ...sent.flatMap(({ provider, model, format, body }) => bodyLines(`sent to ${provider} (${format}, ${model})`, body)),
  ...(blocked === null ? [] : bodyLines('blocked by a guardrail', blocked)),
  ...(cut ? ['', 'the end of a body is missing: 4 MiB of a call are kept'] : []),
];

function bodyLines(title: string, body: string): string[] {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {}
  return ['', `${title}:`, ...text.split('\n').map(escapeControls)];
}

export const guardrailLines = ({ guardrails = [] }: CallRecord, style: Style): string[] =>
  guardrails.length === 0
    ? []
    : [
        '',
        ...table(
          [
            { title: 'guardrail' },
            { title: 'on' },
            { title: 'decided' },
            { title: 'checks', align: 'right' },
            { title: 'ms', align: 'right' },
            { title: 'units', align: 'right' },
            { title: 'cost USD', align: 'decimal' },
          ],
          guardrails.map(({ id, direction, action, checks, ms, units, costPicoUsd }) => [
            ...[id, direction, action, checks, ms, units],
            costPicoUsd === undefined ? undefined : formatUsd(costPicoUsd),
          ]),
          style,
        ),
      ];
