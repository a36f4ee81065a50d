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
