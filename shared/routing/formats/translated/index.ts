export { type TranslatedAnswer, translate } from './translate.ts';
export type { TranslatedApi } from './translated-api.ts';
