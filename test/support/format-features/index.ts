export { type ClientId, type ClientRow, type ColumnFormat, columnsOf, type Verdict } from './client-row.ts';
export { clientsOfMessages } from './clients-of-messages.ts';
export { clientsOfResponses } from './clients-of-responses.ts';
export {
  type Ask,
  type Check,
  type ColumnApi,
  type FeatureRow,
  type ReadAnswer,
  translatedApis,
} from './feature-row.ts';
export { whatComesOut } from './what-comes-out.ts';
export { whatGoesIn } from './what-goes-in.ts';
