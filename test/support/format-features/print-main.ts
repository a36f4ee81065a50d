// `npm run --silent features`: prints the translation of each feature to each format of a client's interface.
import { runScript } from '../../../infra/run-script.ts';
import {
  answerFeatures,
  clientsOfMessages,
  clientsOfResponses,
  columnsOf,
  requestFeatures,
  translatedApis,
} from './index.ts';

type Cells = Readonly<Record<string, { readonly says: string }>>;
const rowsOf = (features: readonly { readonly feature: string; readonly becomes: Cells }[]) =>
  features.map(({ feature, becomes }) => [feature, becomes] as const);

const tables: Readonly<
  Record<string, readonly [columns: readonly string[], rows: readonly (readonly [string, Cells])[]]>
> = {
  'What clients of chat completions send': [
    translatedApis,
    requestFeatures.map(({ feature, cells }) => [feature, cells]),
  ],
  'What they get': [translatedApis, answerFeatures.map(({ feature, cells }) => [feature, cells])],
  'What clients of Messages send': [columnsOf.messages, rowsOf(clientsOfMessages)],
  'What clients of Responses send': [columnsOf.responses, rowsOf(clientsOfResponses)],
};

await runScript('features', () => {
  for (const [title, [columns, rows]] of Object.entries(tables)) {
    const lines = rows.flatMap(([feature, cells]) => [
      feature,
      ...columns.map((format) => `  ${format.padEnd(16)}  ${cells[format]?.says ?? ''}`),
    ]);
    process.stdout.write(`# ${title}\n\n${lines.join('\n')}\n\n`);
  }
});
