export { embedContent } from './embed-content.ts';
export { countContents, generateContent } from './generate-content.ts';
