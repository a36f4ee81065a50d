export { type TranslatedAnswer, type TranslatedCall, translate } from './translate.ts';
