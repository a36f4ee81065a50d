export { type TranslatedAnswer, translate } from './translate.ts';
