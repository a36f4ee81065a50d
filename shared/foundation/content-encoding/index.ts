export { encodingNames, findEncoding } from './encodings.ts';
export { AnswerNotDecoded, plainBytes } from './plain-bytes.ts';
